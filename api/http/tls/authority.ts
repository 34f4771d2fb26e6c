import type { KeptAccount } from './certificate-rows.ts';

/** Requests to a certificate authority (activities/clients/certificate-authority). */
export interface Authority {
  readonly directoryUrl: string;
  openAccount(key?: string): Promise<KeptAccount>;
  order(
    account: KeptAccount,
    name: string,
    show: (keyAuthorization: string) => Promise<void>,
  ): Promise<{ readonly cert: string; readonly key: string }>;
  proof(name: string, keyAuthorization: string): Promise<{ readonly cert: string; readonly key: string }>;
}

/** Error of an attempt, as far as it is known (`AuthorityProblem`). */
export interface AuthorityFailure extends Error {
  readonly type?: string | undefined;
  readonly isTemporary?: boolean;
  readonly retryAfterMs?: number | undefined;
}
