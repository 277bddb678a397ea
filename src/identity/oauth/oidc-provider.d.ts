/** The part of `oidc-provider` that is used here; the package has no types. */
declare module "oidc-provider" {
  /** A stored record, as the package reads and writes it. */
  export type Payload = Record<string, unknown>;

  export interface Adapter {
    upsert(id: string, payload: Payload, expiresIn?: number): Promise<void>;
    find(id: string): Promise<Payload | undefined>;
    findByUid(uid: string): Promise<Payload | undefined>;
    findByUserCode(code: string): Promise<undefined>;
    consume(id: string): Promise<void>;
    destroy(id: string): Promise<void>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  export interface Interaction {
    readonly uid: string;
    /** The address at which the authorization continues. */
    readonly returnTo: string;
    readonly params: Payload;
  }

  export interface Grant {
    addResourceScope(resource: string, scope: string): void;
    rejectResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  export interface Client {
    readonly clientId: string;
    readonly clientName?: string;
    /** True for one that was read from a document at its id. */
    readonly clientIdMetadataDocument?: boolean;
    grantTypeAllowed(type: string): boolean;
    metadata(): Payload;
  }

  export interface Context {
    readonly oidc: { readonly params?: Payload };
  }

  /** The objects of Node's HTTP server. */
  export type NodeHandler = (request: object, response: object) => Promise<void>;

  export class Provider {
    constructor(issuer: string, options: object);
    proxy: boolean;
    readonly Interaction: { find(uid: string): Promise<Interaction | undefined> };
    readonly Client: { find(id: string): Promise<Client | undefined> };
    readonly Grant: new (of: { readonly accountId: string; readonly clientId: string }) => Grant;
    callback(): NodeHandler;
    /** Rejects without the cookie of the browser that started the authorization. */
    interactionDetails(request: object, response: object): Promise<Interaction>;
    interactionFinished(request: object, response: object, result: object, options: object): Promise<void>;
    on(event: "grant.error", listener: (context: Context, error: Error) => void): this;
    on(event: "server_error", listener: (context: Context, error: Error) => void): this;
  }

  export default Provider;

  export const errors: {
    readonly InvalidGrant: new (detail: string) => Error;
    readonly InvalidTarget: new () => Error;
  };
}
