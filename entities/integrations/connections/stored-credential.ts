import type { integration } from '../integration.ts';
import { secret } from '../secret.ts';
import type { RowOf } from '../../kit/model/define.ts';
import type { DatabaseOptions } from '../../kit/access/database-options.ts';
import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';
import { openSealedValue } from '../../kit/write/sealed-values.ts';

export type Integration = RowOf<typeof integration>;

/** A credential as it is kept: a JSON object. It is in no log, error, event or workflow. */
export type Credential = Readonly<Record<string, unknown>>;

/** Account of the customer at the other system: its tenant, workspace or installation. */
export interface ProviderAccount {
  readonly id: string;
  readonly name: string | null;
}

/** A credential with the row that keeps it. Definitions that need none have an empty one. */
export interface StoredCredential {
  readonly secretId: string | null;
  /** Version of the row. */
  readonly version: number;
  readonly credential: Credential;
}

/** More sorts of credentials than a definition has. */
const maxCredentials = 10;

const noCredential: StoredCredential = { secretId: null, version: 0, credential: {} };

/** Whether a credential has not been replaced, nor deleted and made anew. */
export function isSameCredential(one: StoredCredential, other: StoredCredential): boolean {
  return one.secretId === other.secretId && one.version === other.version;
}

type Keys = Pick<DatabaseOptions, 'encryptionSecrets'>;

/** The credential with which an integration is connected. @param unit of the server */
export async function readCredential(
  { data }: Pick<UnitOfWork, 'data'>,
  keys: Keys,
  { id, credentialRef }: Pick<Integration, 'id' | 'credentialRef'>,
): Promise<StoredCredential> {
  if (credentialRef === null) return noCredential;
  const row = await data.findOne(secret, { integrationId: { eq: id }, credentialRef: { eq: credentialRef } });
  if (!row) return noCredential;
  const { secret: text } = await openSealedValue(keys, secret, { ...row }, 'value');
  return { secretId: row.id, version: row.recordVersion, credential: JSON.parse(text) as Credential };
}

/**
 * Keeps a credential of an integration, in the place of the one before it, also if that was of another sort.
 * @param unit with the rights of the server
 */
export async function storeCredential(
  { data }: Pick<UnitOfWork, 'data'>,
  { id, organizationId, displayId }: Pick<Integration, 'id' | 'organizationId' | 'displayId'>,
  credentialRef: string,
  { credential, expiresAt }: { readonly credential: Credential; readonly expiresAt: Date | undefined },
): Promise<void> {
  const values = { value: JSON.stringify(credential), expiresAt: expiresAt ?? null };
  const rows = await data.find(secret, { where: { integrationId: { eq: id } }, limit: maxCredentials });
  for (const row of rows) if (row.credentialRef !== credentialRef) await data.remove(secret, row.id);
  const held = rows.find((row) => row.credentialRef === credentialRef);
  if (held) await data.update(secret, held.id, values);
  else
    await data.create(secret, {
      ...values,
      organizationId,
      name: `${displayId} ${credentialRef}`,
      description: 'Credential of an integration, which the server keeps.',
      credentialType: 'other',
      integrationId: id,
      credentialRef,
    });
}
