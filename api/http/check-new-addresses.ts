import { emailForm } from '#entities/kit/base/email-address.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import type { Creation } from '#entities/kit/write/creations.ts';
import type { Services } from './services.ts';

/**
 * Checks the addresses that new records bring into the product (`checked` fields), as sign-ups check theirs; see `checkEmail`.
 * @throws AppError invalid_input
 */
export async function checkNewAddresses(
  { emailProblem }: Pick<Services, 'emailProblem'>,
  creations: readonly Creation[],
): Promise<void> {
  const addresses = creations.flatMap(({ module, input, path }) =>
    Object.keys(module.fields).flatMap((name) => {
      const value = input[name];
      return module.fields[name]?.isChecked && typeof value === 'string' ? [{ path: `${path}/${name}`, value }] : [];
    }),
  );
  const checked = addresses.map(async ({ path, value }) => ({
    path,
    message: await emailProblem(emailForm(value)),
  }));
  const problems = (await Promise.all(checked)).flatMap(({ path, message }) =>
    message === undefined ? [] : [{ path, message }],
  );
  if (problems.length > 0) throw inputError(problems);
}
