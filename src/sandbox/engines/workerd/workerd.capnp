# What a sandbox child of the engine workerd runs: one Worker that owns the wire, and the right to load Workers.
# The socket is handed in on a descriptor (`--socket-fd wire=3`). The network service allows no address.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "child", worker = .childWorker),
    (name = "internet", network = (allow = [])),
  ],
  sockets = [(name = "wire", tcp = (), service = (name = "child", entrypoint = "child"))],
);

const childWorker :Workerd.Worker = (
  modules = [(name = "child.js", esModule = embed "child.js")],
  compatibilityDate = "2026-10-01",
  compatibilityFlags = ["experimental"],
  bindings = [(name = "LOADER", workerLoader = ())],
);
