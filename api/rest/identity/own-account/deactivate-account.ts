import { user } from '#entities/identity/user.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { forgetWrongPasswords } from '../account/current-password.ts';
import { endSessions } from '../account/end-sessions.ts';
import { beginLeaving, leavingRoute } from './leave-account.ts';
import { voidMailedLinks } from './void-mailed-links.ts';

/** Nothing is deleted: the mailed link brings the account back as it was. */
export const deactivateAccount = leavingRoute({
  method: 'POST',
  url: '/v1/account/deactivate',
  operationId: 'deactivateAccount',
  summary: 'Deactivate the account',
  description:
    'Signs out all devices and refuses every further sign-in. A link that is e-mailed reactivates the account within 90 days (POST /v1/account/reactivate); afterwards only the operator of the server can. Refused for the last owner of an organization that has other members. Users with a second factor must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.',
  leave: async (call) => {
    const { unit, services } = call;
    const data = unit.data.privileged('deactivate account');
    const { person } = await beginLeaving(call, data, 'edit');
    await voidMailedLinks(data, person.id, [person.email], services.clock.now());
    await endSessions(data, person.id);
    const deactivated = await data.update(user, person.id, { status: 'deactivated' });
    await forgetWrongPasswords(call, person.id);
    unit.emit(customEvent(user, 'deactivated', deactivated, {}));
    return 'The account is deactivated. The link in the e-mail reactivates it within 90 days.';
  },
});
