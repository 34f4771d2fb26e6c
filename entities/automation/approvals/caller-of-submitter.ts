import { readLaterCaller, type LaterPrincipal } from '../../kit/access/later-caller.ts';
import type { CallerContext } from '../../kit/access/principal-state.ts';
import type { Caller } from '../../kit/model/caller.ts';
import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';

/** The part of the running configuration on which the rights of people and tokens depend. */
export interface CallerSettings {
  readonly contextOfCallers: () => Promise<CallerContext>;
  /** `auth.token.apitokens`. */
  readonly tokenSettings: () => {
    readonly enabled: boolean;
    readonly keys: Readonly<Record<string, { readonly status: string } | undefined>>;
  };
}

/** The person or program that has made a change, with the rights of today. @throws AppError permission_denied when it has none any more */
export async function laterCaller(
  unit: UnitOfWork,
  principal: LaterPrincipal,
  { contextOfCallers, tokenSettings }: CallerSettings,
): Promise<Caller> {
  const { enabled, keys } = tokenSettings();
  const acceptsKey = (id: string) => enabled && Object.hasOwn(keys, id) && keys[id]?.status !== 'revoked';
  return readLaterCaller(unit, principal, await contextOfCallers(), acceptsKey);
}
