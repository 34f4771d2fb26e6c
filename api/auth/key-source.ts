import type { SigningKey } from './signing-key.ts';

/** A key of a source, or why it cannot be used. */
export type FoundKey =
  | { readonly kid: string; readonly place: string; readonly key: SigningKey }
  | { readonly kid: string; readonly place: string; readonly problem: string };

/** Where signing keys come from. */
export interface KeySource {
  /** The configuration that names the source. */
  readonly name: string;
  /** Whether the server does not start while one of the keys cannot be used: they are part of the configuration. */
  readonly isStrict?: boolean;
  /** Whether its keys change while the configuration stays. */
  readonly isWatched?: boolean;
  /**
   * The keys as they are now.
   * @param isUrgent a token names an unknown key: sources that are asked rarely are asked now
   * @throws KeyProblem when the source cannot be read
   */
  read(isUrgent: boolean): Promise<readonly FoundKey[]>;
}
