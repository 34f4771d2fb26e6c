/** One request as it is repeated. */
export interface LoadRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly token?: string;
  /** Header Cookie. */
  readonly cookie?: string;
  /** Header X-CSRF-Token, which a browser sends with its cookies. */
  readonly csrfToken?: string;
  readonly body?: object;
  /** Header Origin, of the page that asks. */
  readonly origin?: string;
  /** Header Range. */
  readonly range?: string;
  /** Each request is signed as the service Svix does it, with an id of its own. */
  readonly svixSecret?: string;
}

/** What is asked of the process that makes the load (load-client.ts). */
export interface Load {
  readonly url: string;
  /** Taken in turn, beginning anew at the end. */
  readonly requests: readonly LoadRequest[];
  /** Connections, each with one request at a time. */
  readonly clients: number;
  readonly forMs: number;
}

export interface LoadResult {
  /** Number of answers that are no refusals. */
  readonly answers: number;
  readonly answersPerSecond: number;
  /** Status lines of refusals, with how many there were. */
  readonly refused: Readonly<Record<string, number>>;
}
