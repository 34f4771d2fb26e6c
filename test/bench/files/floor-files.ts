import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { Busboy } from '@fastify/busboy';
import { FileStore } from '@tus/file-store';
import { Server } from '@tus/server';
import Fastify, { type FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { newId } from '#entities/kit/base/ids.ts';
import { S3_CREDENTIALS } from '#temporal-dev/servers/launch-s3.ts';

/**
 * The floors and peers for files: Fastify and busboy alone, `@aws-sdk/lib-storage`, and `@tus/server` with its store of files. No
 * caller, no limit, no check of types.
 */
const environment = process.env;
const folder = environment['FLOOR_FOLDER'] ?? '';
const bucket = environment['FLOOR_BUCKET'] ?? '';
const pool = new Pool({ connectionString: environment['FLOOR_DATABASE'] ?? '', max: 20, min: 20 });
const s3 = new S3Client({
  region: 'us-east-1',
  endpoint: environment['FLOOR_S3'] ?? 'http://127.0.0.1:1',
  forcePathStyle: true,
  credentials: { accessKeyId: S3_CREDENTIALS.accesskeyid, secretAccessKey: S3_CREDENTIALS.secretaccesskey },
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
});
await mkdir(folder, { recursive: true });
if (environment['FLOOR_DATABASE'])
  await pool.query(
    'create table if not exists floor_files (id text primary key, size_bytes bigint not null, sha256 bytea not null)',
  );

const app = Fastify();
for (const type of ['multipart/form-data', 'application/offset+octet-stream'])
  app.addContentTypeParser(type, (_request, _payload, done) => done(null));

app.post('/files', async (request, reply) => {
  const id = newId();
  await oneFile(request, (source) => toDisk(source, id));
  return reply.code(201).send({ id });
});

app.post('/rows', async (request, reply) => {
  const id = newId();
  const { sizeBytes, sha256 } = await oneFile(request, (source) => toDisk(source, id));
  await pool.query({
    name: 'insert',
    text: 'insert into floor_files (id, size_bytes, sha256) values ($1, $2, $3)',
    values: [id, sizeBytes, sha256],
  });
  return reply.code(201).send({ id });
});

app.post('/bucket', async (request, reply) => {
  const id = newId();
  await oneFile(request, (source) =>
    new Upload({ client: s3, params: { Bucket: bucket, Key: `floor/${id}`, Body: source } }).done(),
  );
  return reply.code(201).send({ id });
});

app.get('/files/:id', async (request, reply) => {
  const path = pathOf(request);
  const { size } = await stat(path);
  return reply.header('content-length', size).type('application/octet-stream').send(createReadStream(path));
});

app.get('/rows/:id', async (request, reply) => {
  const { id } = request.params as { readonly id: string };
  const { rows } = await pool.query<{ size_bytes: string }>({
    name: 'read',
    text: 'select size_bytes from floor_files where id = $1',
    values: [id],
  });
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  const [start, end] = [Number(first), Number(last)];
  return reply
    .code(206)
    .headers({ 'content-length': end - start + 1, 'content-range': `bytes ${start}-${end}/${rows[0]?.size_bytes}` })
    .type('application/octet-stream')
    .send(createReadStream(pathOf(request), { start, end }));
});

const tus = new Server({ path: '/tus', datastore: new FileStore({ directory: join(folder, 'tus') }) });
for (const url of ['/tus', '/tus/*'])
  app.all(url, (request, reply) => {
    reply.hijack();
    void tus.handle(request.raw, reply.raw);
  });

process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }), pid: process.pid });

/** Gives the one file of a form away. @returns what became of it */
async function oneFile<T>({ raw }: FastifyRequest, take: (source: Readable) => Promise<T>): Promise<T> {
  const parser = new Busboy({ headers: { ...raw.headers, 'content-type': raw.headers['content-type'] ?? '' } });
  const taken = once(parser, 'file').then(([, source]) => take(source as Readable));
  raw.pipe(parser);
  const [result] = await Promise.all([taken, once(parser, 'finish')]);
  return result;
}

/** The file is synchronized before it is closed. */
async function toDisk(source: Readable, id: string): Promise<{ readonly sizeBytes: number; readonly sha256: Buffer }> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  source.on('data', (piece: Buffer) => {
    hash.update(piece);
    sizeBytes += piece.length;
  });
  await pipeline(source, createWriteStream(join(folder, id), { flush: true }));
  return { sizeBytes, sha256: hash.digest() };
}

function pathOf({ params }: FastifyRequest): string {
  return join(folder, (params as { readonly id: string }).id);
}
