import { errorCatalogue, type ErrorCode } from '../base/error-catalogue.ts';
import { AppError } from '../base/errors.ts';

/** The error for an upload that does not exist, is somebody else's, has expired, or was used. */
export function missingUpload(uploadId: string): AppError {
  return new AppError(
    'not_found',
    `There is no upload "${uploadId}" that you can use: an upload belongs to whoever made it in the same organization, for a day and one record. Upload the file again.`,
  );
}

/** The error for an upload that was refused, as it was then. */
export function refusedUpload({ code, message }: { readonly code: string; readonly message: string }): AppError {
  return new AppError(isErrorCode(code) ? code : 'invalid_input', message);
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}
