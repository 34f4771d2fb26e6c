import { AppError } from '../base/errors.ts';
import { inputError } from '../base/input-error.ts';
import { databaseRoleOf, type Caller } from '../model/caller.ts';
import { fileProblem } from '../model/files/accepted-types.ts';
import type { EntityModule } from '../model/define.ts';
import { fileFieldsOf, type FileField } from '../model/files/stored-file.ts';
import { missingUpload, refusedUpload } from '../objects/upload-problems.ts';
import type { UploadState } from '../objects/upload-rows.ts';
import { ownerColumns, uploadOwnerOf } from '../objects/upload-owner.ts';
import type { ChangeWork } from './change-work.ts';

type Row = Record<string, unknown>;

/** Values of a record that are to be written. */
interface WrittenValues {
  readonly module: EntityModule;
  /** File fields have ids of uploads; `claimFiles` puts the ids of their objects in their place. */
  readonly values: Row;
  /** Which of them differ from what is stored; undefined: all. A file that stays is no upload. */
  readonly changed?: Readonly<Row>;
  /** JSON pointer of its input in the input of the operation. */
  readonly path: string;
}

interface ClaimedUpload {
  readonly upload_id: string;
  readonly state: UploadState;
  readonly object_id: string;
  readonly name: string;
  readonly content_type: string;
  readonly size_bytes: string;
  readonly problem: { readonly code: string; readonly message: string } | null;
}

/** A file field that gets a file. */
interface Attachment extends FileField {
  readonly values: Row;
  readonly path: string;
  readonly uploadId: string;
}

/**
 * Gives each record the object of the upload that its input names. One statement locks the uploads, so that no other request takes one of
 * them; `write_records` marks them as used together with the records. Without files nothing is sent.
 * @throws AppError not_found for an upload of somebody else, of another organization, one that has expired or is used, also twice here;
 * upload_not_ready; file_type_refused, body_too_large; the error with which an upload was refused
 */
export async function claimFiles(work: ChangeWork, caller: Caller, written: readonly WrittenValues[]): Promise<void> {
  const attachments = written.flatMap(({ module, values, changed = values, path }) =>
    fileFieldsOf(module).flatMap((field): Attachment[] => {
      const uploadId = changed[field.name];
      return typeof uploadId === 'string' ? [{ ...field, values, path: `${path}/${field.name}`, uploadId }] : [];
    }),
  );
  if (attachments.length === 0) return;
  const uploads = await claim(work, caller, new Set(attachments.map(({ uploadId }) => uploadId)));
  for (const attachment of attachments) {
    const upload = uploads.get(attachment.uploadId);
    if (!upload) throw missingUpload(attachment.uploadId);
    uploads.delete(attachment.uploadId);
    attach(attachment, upload);
  }
}

async function claim(work: ChangeWork, caller: Caller, ids: ReadonlySet<string>): Promise<Map<string, ClaimedUpload>> {
  const session = await work.readAs(databaseRoleOf(caller));
  const document = { ids: [...ids], ...ownerColumns(uploadOwnerOf(caller)), at: work.clock.now() };
  const { rows } = await session.query<ClaimedUpload & Row>('select * from claim_uploads($1)', [
    JSON.stringify(document),
  ]);
  return new Map(rows.map((upload) => [upload.upload_id, upload]));
}

function attach({ name: fieldName, rule, values, path }: Attachment, upload: ClaimedUpload): void {
  if (upload.state === 'refused' && upload.problem) throw refusedUpload(upload.problem);
  if (upload.state !== 'ready')
    throw new AppError(
      'upload_not_ready',
      `The upload "${upload.upload_id}" is not ${upload.state === 'arrived' ? 'checked' : 'complete'} yet; try again in a moment.`,
      { details: { retryAfterSeconds: 1 } },
    );
  const { name, content_type: contentType } = upload;
  const sizeBytes = Number(upload.size_bytes);
  const problem = fileProblem(rule, { contentType, sizeBytes });
  if (problem) {
    const { code, message } = problem;
    throw new AppError(code, `The file for ${path.slice(1)} ${message}.`, { details: { fields: [{ path, message }] } });
  }
  values[fieldName] = upload.object_id;
  const { fills } = rule;
  if (fills.name !== undefined) values[fills.name] ??= name;
  if (fills.contentType !== undefined) values[fills.contentType] = contentType;
  if (fills.sizeBytes !== undefined) values[fills.sizeBytes] = sizeBytes;
}

/** A file belongs to one record, so no file can be given to a set of records. @throws AppError invalid_input */
export function refuseFileForMany(module: EntityModule, values: Readonly<Row>): void {
  const problems = fileFieldsOf(module)
    .filter(({ name }) => typeof values[name] === 'string')
    .map(({ name }) => ({ path: `/${name}`, message: 'is a file, which belongs to one record; change one record' }));
  if (problems.length > 0) throw inputError(problems);
}
