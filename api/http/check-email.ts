import { emailForm } from '#entities/kit/base/email-address.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { Services } from './services.ts';

/**
 * Checks an e-mail address as `ormconfig.emailvalidation` says. Call it wherever an address enters the product: sign-up,
 * change of one's own address, invitation, the first sign-in with a provider. It may wait for external servers, so call it before the
 * first statement, while no transaction is open. Its result depends on the address alone, never on who has an account.
 * @param path JSON pointer of the address in the input
 * @throws AppError invalid_input
 */
export async function checkEmail(
  { emailProblem }: Pick<Services, 'emailProblem'>,
  email: string,
  path = '/email',
): Promise<void> {
  const message = await emailProblem(emailForm(email));
  if (message !== undefined)
    throw new AppError('invalid_input', `${path.slice(1)} ${message}.`, { details: { fields: [{ path, message }] } });
}
