import type { Person } from '../people.ts';
import type { TestClient } from '../test-client.ts';
import { eventually } from '../eventually.ts';
import { storedUpload } from '../files/stored-upload.ts';
import type { World } from '../world.ts';

/** An export or an import as REST shows it. */
export interface TransferJson {
  readonly id: string;
  readonly status: string;
  readonly done_rows: number;
  readonly total_rows: number | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly problems?: readonly string[] | null;
  readonly content: {
    readonly id: string;
    readonly name: string;
    readonly url: string;
    readonly size_bytes: number;
  } | null;
}

export async function startExport(client: TestClient, values: object): Promise<TransferJson> {
  const { status, body } = await client.post('/v1/exports', values);
  if (status !== 201) throw new Error(`no export: ${JSON.stringify(body)}`);
  return body;
}

/** Uploads a document and starts its import. */
export async function startImport(
  world: World,
  person: Person,
  client: TestClient,
  document: string | Buffer,
  values: object = {},
): Promise<TransferJson> {
  const bytes = Buffer.from(document as string);
  const content = await storedUpload(world, person, { bytes, name: 'records.csv', contentType: 'text/csv' });
  const { status, body } = await client.post('/v1/imports', { record_kind: 'task', ...values, content });
  if (status !== 201) throw new Error(`no import: ${JSON.stringify(body)}`);
  return body;
}

/** Waits until the work has ended. */
export function ended(client: TestClient, path: 'exports' | 'imports', id: string): Promise<TransferJson> {
  return eventually(async () => {
    const { body } = await client.get(`/v1/${path}/${id}`);
    return !['pending', 'running'].includes(body.status) && (body as TransferJson);
  });
}

/** The bytes of a document, as its link gives them. */
export async function documentOf(client: TestClient, { content }: TransferJson): Promise<string> {
  const { body, status } = await client.get(`/v1/files/${content?.id}/download`);
  if (status !== 200) throw new Error(`no document: ${JSON.stringify(body)}`);
  return typeof body === 'string' ? body : JSON.stringify(body);
}
