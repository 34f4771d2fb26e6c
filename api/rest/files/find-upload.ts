import { isId } from '#entities/kit/base/ids.ts';
import { uploadOwnerOf } from '#entities/kit/objects/upload-owner.ts';
import { missingUpload } from '#entities/kit/objects/upload-problems.ts';
import type { Upload } from '#entities/kit/objects/upload-rows.ts';
import type { Call } from '../../http/route.ts';

/** The upload of the caller that the path names. @throws AppError not_found */
export async function findUpload({ request, params, services }: Call<unknown>): Promise<Upload> {
  const id = params['id'] ?? '';
  const owner = uploadOwnerOf(request.core.caller);
  const found = isId(id) ? await services.uploadRows.find(id, owner, services.clock.now()) : undefined;
  // Its owner gave it up: nothing else is refused as not found.
  if (!found || found.problem?.code === 'not_found') throw missingUpload(id);
  return found;
}
