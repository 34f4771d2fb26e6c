import { systemCaller } from '#entities/kit/model/caller.ts';
import { checkEmail } from '../../../http/check-email.ts';
import { workOf } from '../../../http/request-context.ts';
import type { Call } from '../../../http/route.ts';
import { countMailRequest } from './mail-limits.ts';

/**
 * Checks an address that somebody says is theirs. A check asks servers elsewhere, so those of one network address are counted, also
 * the ones that refuse the address.
 * @throws AppError invalid_input, too_many_requests
 */
export async function checkNewEmail(call: Call<unknown>, email: string, path?: string): Promise<void> {
  const { services, request } = call;
  if (services.config.current.ormconfig.emailvalidation.enabled)
    await services.database.transact(workOf(request.core, systemCaller('check e-mail address')), (unit) =>
      countMailRequest({ unit, services, request }, 'check-email'),
    );
  await checkEmail(services, email, path);
}
