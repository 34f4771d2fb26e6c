import type { ConfigStore } from '#config/live/config-store.ts';
import { identityProvider, secondFactor } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { resealPage, sealedPlaces, type SealedPlace } from '#entities/kit/write/reseal.ts';
import type { ResealCursor, ResealedSecrets } from '#workflows/maintenance/reseal-secrets.contract.ts';

/** Values that are looked at in one transaction. */
const pageSize = 200;

interface Dependencies {
  readonly config: ConfigStore;
  readonly database: Database;
}

/** A page of the values that are encrypted, over all fields one after the other. */
export async function resealSecretsPage(
  { config, database }: Dependencies,
  cursor: ResealCursor = { place: 0, after: '' },
): Promise<ResealedSecrets> {
  const places = allPlaces(config, database);
  const place = places[cursor.place];
  if (!place) return { field: '', checked: 0, resealed: 0, unreadable: [], next: null };
  const context = { caller: systemCaller('reseal secrets'), requestId: `reseal-${newId()}` };
  const page = await database.transact(context, (unit) =>
    resealPage(unit, place, { after: cursor.after, limit: pageSize }),
  );
  const following = cursor.place + 1 < places.length ? { place: cursor.place + 1, after: '' } : null;
  return {
    ...page,
    field: `${place.module.kind}.${place.field}`,
    next: page.next === null ? following : { place: cursor.place, after: page.next },
  };
}

function allPlaces(config: ConfigStore, { options }: Database): readonly SealedPlace[] {
  const { sessions, totp } = config.current;
  return [
    ...sealedPlaces(options.registry.modules, options),
    // Older than sealed fields, with keys of their own.
    {
      module: identityProvider,
      field: 'clientSecret',
      sealing: ({ organizationId }) => ({
        secrets: sessions.encryptionkey,
        purpose: 'identity-provider-secret',
        subject: organizationId as string,
      }),
    },
    {
      module: secondFactor,
      field: 'sealedSecret',
      sealing: ({ id }) => ({ secrets: totp.secret, purpose: 'totp-secret', subject: id as string }),
    },
  ];
}
