/** What to write so that programs may send a secret to a host: the configuration decides that, and not the page. */

import { useState } from "preact/hooks";

import { Dialog } from "../../parts/dialog.tsx";
import { Choices, TextField, splitWords } from "../../parts/form.tsx";
import { CopyButton, Visible } from "../../parts/text.tsx";

interface BindHostsProps {
  readonly name: string;
  readonly file: string | undefined;
  readonly onClose: () => void;
}

const PLACES = [
  ["header", "in the headers of a request"],
  ["body", "in its body"],
] as const;

export function BindHosts({ name, file, onClose }: BindHostsProps) {
  const [hosts, setHosts] = useState("");
  const [places, setPlaces] = useState<readonly string[]>(["header"]);
  const domains = splitWords(hosts) ?? ["api.example.com"];
  const entry = JSON.stringify({ sandbox: { secrets: { [name]: { hosts: domains, in: places } } } }, null, 2);
  return (
    <Dialog
      title={`Hosts of ${name}`}
      onClose={onClose}
      footer={
        <button class="btn primary" type="button" onClick={onClose}>
          Done
        </button>
      }
    >
      <p>
        A program can use a secret without reading it, for requests to hosts that the configuration binds it to. Add
        this to <Visible text={file ?? "glovebox.config.json"} />, and start the gateway again:
      </p>
      <TextField
        label="Hosts"
        hint="With commas between them; host:port for another port."
        value={hosts}
        onText={setHosts}
        placeholder="api.example.com"
        isCode
      />
      <Choices label="It may be sent" options={PLACES} chosen={places} onChoose={setPlaces} />
      <div class="row">
        <b class="small strong">Entry</b>
        <span class="end">
          <CopyButton text={entry} label="Copy the entry" />
        </span>
      </div>
      <pre class="block" tabIndex={0} aria-label="Entry for the configuration">
        {entry}
      </pre>
      <p class="small muted">The hosts must also be in `sandbox.networkPolicy`.</p>
    </Dialog>
  );
}
