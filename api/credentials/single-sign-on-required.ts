import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { Services } from '../http/services.ts';

/** URL at which people begin the single sign-on of an organization. */
export function singleSignOnUrl({ config }: Pick<Services, 'config'>, organizationId: string): string {
  return `${publicApiUrl(config.current)}/v1/sso/login?organization_id=${organizationId}`;
}

/** The error for a session that did not begin with the single sign-on that an organization enforces. */
export function singleSignOnRequired(services: Pick<Services, 'config'>, organizationId: string): AppError {
  const signInUrl = singleSignOnUrl(services, organizationId);
  return new AppError('single_sign_on_required', `The organization requires its single sign-on: open ${signInUrl}`, {
    details: { signInUrl },
  });
}
