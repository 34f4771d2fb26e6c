/** Requests that carry or fetch large bodies, as the process that makes them is asked (file-client.ts). */
export interface FileLoad {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Size of the file that each request sends. */
  readonly sizeBytes: number;
  /** Whether the file is sent in a form, or is the whole body. */
  readonly isForm: boolean;
  /** Connections, each with one request at a time. */
  readonly connections: number;
  /** How long each of them sends again and again, in milliseconds; 0: once. */
  readonly forMs: number;
}

export interface FileLoadResult {
  readonly answers: number;
  readonly seconds: number;
  /** Bytes of all answers. */
  readonly receivedBytes: number;
  /** The last answer, unless it is long. */
  readonly lastBody: string;
}
