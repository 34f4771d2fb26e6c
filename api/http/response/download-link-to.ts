import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';
import { isWithheld } from '#entities/kit/model/files/stored-file.ts';
import type { OwnedObject } from '#entities/kit/objects/stored-object.ts';
import type { DownloadLink, LinkOptions } from '../../auth/download-link.ts';
import type { RequestContext } from '../request-context.ts';
import type { Services } from '../services.ts';
import { contentDisposition, dispositionOf, mediaTypeOf } from '../streams/content-disposition.ts';

/**
 * A link to a file: to the provider itself where its configuration says so, else to this server. Neither causes a request. A file that is
 * withheld has links to this server alone, for callers who give verdicts.
 * @returns null for a caller without credentials, and for one from whom the file is withheld
 */
export async function downloadLinkTo(
  object: OwnedObject,
  options: LinkOptions,
  { token: principal, caller }: Pick<RequestContext, 'token' | 'caller'>,
  services: Services,
): Promise<string | null> {
  const { storage, downloadLinks } = services;
  if (!principal || isWithheld(object.availability, caller, services.database.options.registry)) return null;
  // Only this server knows whether a link was used, and whom it may give what is withheld.
  const isOurs = options.once || object.availability !== 'available';
  const native = isOurs ? undefined : await nativeLink(object, options, services);
  if (native !== undefined) return native;
  const token = downloadLinks.issue(object.id, principal, options);
  return `${storage.baseUrl(object.location.provider)}/${object.id}/download?token=${token}`;
}

/** How long the provider accepts the link to which a download is redirected; it is followed at once. */
const redirectSeconds = 60;

/** Maximum duration of the signature of such a link, in milliseconds. */
const redirectTimeoutMs = 5_000;

/**
 * URL at which a download with a link to this server continues: at the provider, if it may serve its files itself and each signature is a
 * request, so that links to it are not made for lists. Undefined where this server answers it.
 */
export async function redirectTo(
  object: OwnedObject,
  { disposition, nonce }: Pick<DownloadLink, 'disposition' | 'nonce'>,
  services: Services,
): Promise<string | undefined> {
  if (nonce || object.availability !== 'available') return undefined;
  const presentation = presentationOf(object, { disposition, expiresInSeconds: redirectSeconds });
  return unlessUnsigned(object, services, () =>
    withTimeout(services.storage.redirect(object, presentation), redirectTimeoutMs, () => {
      throw new AppError('storage_unavailable', 'The provider took too long to sign a link.');
    }),
  );
}

function nativeLink(object: OwnedObject, options: LinkOptions, services: Services): Promise<string | undefined> {
  return unlessUnsigned(object, services, () => services.storage.link(object, presentationOf(object, options)));
}

/** Undefined also while the provider's credentials can sign nothing: this server answers downloads all the same. */
async function unlessUnsigned(
  { location }: OwnedObject,
  { logger }: Services,
  sign: () => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    return await sign();
  } catch (error) {
    if (!isAppError(error) || error.code !== 'storage_unavailable') throw error;
    logger.warn({ err: error, provider: location.provider }, 'a link to the provider could not be signed');
    return undefined;
  }
}

function presentationOf(
  { contentType, name }: OwnedObject,
  { expiresInSeconds, disposition }: Pick<LinkOptions, 'expiresInSeconds' | 'disposition'>,
) {
  return {
    expiresInSeconds,
    contentType: mediaTypeOf(contentType),
    disposition: contentDisposition(dispositionOf(contentType, disposition), name),
  };
}
