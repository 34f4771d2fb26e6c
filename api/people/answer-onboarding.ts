import { user } from '#entities/identity/user.ts';
import { onboarding } from '#entities/organizations/onboarding.ts';
import { organization } from '#entities/organizations/organization.ts';
import { parseDomain } from '#entities/kit/base/email-address.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { nameForm } from '#entities/kit/base/name-form.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { foundOrganization } from './found-organization.ts';

/** Answers of a person; which are valid says the kind. */
export interface OnboardingAnswers {
  readonly companyName: string;
  readonly domains?: readonly string[] | null;
  readonly companyDetails?: unknown;
  readonly userDetails?: unknown;
  readonly compliance?: unknown;
}

/** Names that are tried before the person has to choose another one. */
const maxNames = 10;

/**
 * Keeps the answers of the caller, and creates the organization that they describe.
 * @throws AppError permission_denied, invalid_input, already_exists
 */
export async function answerOnboarding(
  unit: UnitOfWork,
  { domains, ...answers }: OnboardingAnswers,
): Promise<RowOf<typeof onboarding>> {
  const { kind, subjectId } = unit.context.caller;
  if (kind !== 'user' || subjectId === null)
    throw new AppError('permission_denied', 'Only users answer the questions at the beginning; sign in first.');
  const data = unit.data.privileged('answer onboarding');
  const owner = await data.get(user, subjectId);
  const emailDomains = [...new Set((domains ?? []).map((domain) => parseDomain(domain) ?? domain))];
  const id = newId();
  const kept = await data.create(onboarding, {
    ...answers,
    domains: emailDomains,
    userId: subjectId,
    createdOrganizationId: id,
  });
  const name = await freeName(data, subjectId, kept.companyName);
  await foundOrganization(data, { id, name, founderId: subjectId }, owner, { emailDomains });
  return kept;
}

/** @throws AppError already_exists */
async function freeName(data: DataClient, founderId: string, wanted: string): Promise<string> {
  const suffixes = Array.from({ length: maxNames - 1 }, () => ` ${newId().slice(-6)}`);
  for (const suffix of ['', ...suffixes]) {
    const name = `${wanted}${suffix}`;
    if (!(await data.findOne(organization, { founderId: { eq: founderId }, nameForm: { eq: nameForm(name) } })))
      return name;
  }
  throw new AppError('already_exists', 'You already created an organization with this name; choose another one.');
}
