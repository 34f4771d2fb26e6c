import { emailChange } from '#entities/identity/email-change.ts';
import { user } from '#entities/identity/user.ts';
import { organization } from '#entities/organizations/organization.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { forgetWrongPasswords } from '../account/current-password.ts';
import { beginLeaving, leavingRoute } from './leave-account.ts';
import { voidMailedLinks } from './void-mailed-links.ts';

export const deleteAccount = leavingRoute({
  method: 'DELETE',
  url: '/v1/account',
  operationId: 'deleteAccount',
  summary: 'Delete the account',
  description:
    'Deletes the user with their memberships and sessions, and the organizations of which they are the only member, such as the personal one. The e-mail address can sign up again. Refused for the last owner of an organization that has other members. Users with a second factor must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.',
  leave: async (call) => {
    const { unit, services } = call;
    const data = unit.data.privileged('delete account');
    const { person, owned } = await beginLeaving(call, data, 'remove');
    const now = services.clock.now();
    await voidMailedLinks(data, person.id, [person.email], now);
    for (const id of owned.alone) await data.remove(organization, id);
    await data.remove(user, person.id);
    const { id: userId, email } = person;
    const released = await data.create(emailChange, { userId, email, expiresAt: now, usedAt: now });
    await forgetWrongPasswords(call, userId);
    unit.emit(customEvent(emailChange, 'account_deleted', released, {}));
    return 'The account is deleted.';
  },
});
