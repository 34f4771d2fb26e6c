import { Type } from 'typebox';
import { secondFactor } from '#entities/identity/second-factor.ts';
import { newRecoveryCodes, recoveryCodeHash } from '../../../auth/recovery-codes.ts';
import { openSecret } from '#entities/kit/base/secrets/sealed-secret.ts';
import type { Call } from '../../../http/route.ts';
import { sealing } from './accept-code.ts';
import type { Factor } from '../../../credentials/confirmed-factor.ts';

export const RecoveryCodesSchema = Type.Object(
  {
    recovery_codes: Type.Array(Type.String(), {
      description: 'Recovery codes, each of which works once in place of a code of the app. They are not shown again.',
    }),
  },
  { title: 'RecoveryCodes' },
);

/** Makes new recovery codes; the previous ones no longer work. */
export async function giveRecoveryCodes(
  call: Call<unknown>,
  { id, userId, sealedSecret }: Factor,
): Promise<{ readonly codes: string[]; readonly changed: Factor }> {
  const { recoverycodecount, recoverycodelength } = call.services.config.current.totp;
  const { secret } = await openSecret(sealedSecret ?? '', sealing(call, id));
  const codes = newRecoveryCodes(recoverycodecount, recoverycodelength);
  const changed = await call.unit.data.privileged('give recovery codes').update(secondFactor, id, {
    recoveryCodeHashes: codes.map((code) => recoveryCodeHash(secret, userId, code)),
    recoveryCodesLeft: codes.length,
  });
  return { codes, changed };
}
