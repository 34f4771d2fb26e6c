import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '#entities/kit/base/ids.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, testPassword } from '../kit/people.ts';
import type { Random } from '../kit/random.ts';
import type { World } from '../kit/world.ts';

/** A file that its record has, as the client knows it. */
export interface KnownFile {
  readonly kind: 'files' | 'task-files';
  /** Of the record. */
  readonly id: string;
  readonly content: Buffer;
}

export interface FileTrafficOptions {
  /** Addresses that may be asked now; while there are none, clients wait. */
  readonly urls: () => readonly string[];
  readonly random: Random;
  /** Files of records from which on each new one takes the place of another. */
  readonly maxFiles: () => number;
}

type Route = 'form' | 'direct' | 'resumable';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | FormData;
}

/** Bytes of one file in parts at every provider. */
const largeBytes = 6 * 1024 * 1024;

/** One file of so many is large. */
const largeEvery = 8;

/** Statuses after which clients come again: 409 while a request that died holds the lock of an upload. */
const again: ReadonlySet<number> = new Set([409, 503]);

/**
 * Clients that upload, attach, replace, delete and download files while processes and providers die. They repeat what was not
 * answered and remember what was, which must then be true of every byte.
 */
export class FileTraffic {
  /** By the id of the record. */
  readonly files = new Map<string, KnownFile>();
  /** Answers that nobody should get. */
  readonly unexpected: unknown[] = [];
  readonly counts = { uploads: 0, attached: 0, replaced: 0, deleted: 0, downloads: 0, unanswered: 0, putOff: 0 };
  readonly #options: FileTrafficOptions;
  readonly #bearer: string;
  /** Downloaded or changed by one client at a time. */
  readonly #busy = new Set<string>();

  private constructor(options: FileTrafficOptions, bearer: string) {
    this.#options = options;
    this.#bearer = bearer;
  }

  static async of(world: World, options: FileTrafficOptions): Promise<FileTraffic> {
    const { user } = await buildPerson(world);
    const login = await world.client().post('/v1/login', { username: user.email, password: testPassword });
    return new FileTraffic(options, String(login.body.access_token));
  }

  /** Clients work beside each other until they are told to stop. */
  async run(signal: AbortSignal): Promise<void> {
    const repeat = async (route: Route, pauseMs: number) => {
      for (let visits = 0; !signal.aborted; visits++) {
        const isFull = this.files.size >= this.#options.maxFiles();
        const old = isFull ? this.#free() : undefined;
        if (old) await this.#exclusively(old, () => this.#delete(old));
        await this.#bring(route, visits % largeEvery === 1 ? largeBytes : this.#anySize());
        await this.#work(route);
        // Copies are made of what there is, or they would never be done.
        await pause(isFull ? 10 * pauseMs : pauseMs);
      }
    };
    await Promise.all([repeat('form', 100), repeat('form', 100), repeat('direct', 300), repeat('resumable', 300)]);
  }

  /** Works on a file that no client touches meanwhile. */
  async apart(work: (file: KnownFile) => Promise<void>): Promise<void> {
    const file = await eventually(() => this.#free());
    await this.#exclusively(file, () => work(file));
  }

  /** Downloads a file, and replaces or deletes another one, by chance. */
  async #work(route: Route): Promise<void> {
    const { random } = this.#options;
    const known = this.#free();
    if (known && random.chance(0.4)) await this.#exclusively(known, () => this.#download(known));
    const changed = this.#free();
    if (changed && random.chance(0.2))
      await this.#exclusively(changed, () =>
        changed.kind === 'files' && random.chance(0.5) ? this.#replace(changed, route) : this.#delete(changed),
      );
  }

  #anySize(): number {
    return 1 + this.#options.random.below(20_000);
  }

  /** Uploads a file and attaches it to a record. */
  async #bring(route: Route, sizeBytes: number): Promise<void> {
    const content = textOf(sizeBytes);
    const name = `${newId()}.txt`;
    const uploadId = await this.#upload(route, name, content);
    if (uploadId === undefined) return;
    const kind = this.#options.random.chance(0.3) ? 'task-files' : 'files';
    const given = kind === 'files' ? {} : { task_id: await this.#makeTask() };
    const { answer, attempts } = await this.#untilAnswered(`/v1/${kind}`, () =>
      json({ ...given, content: uploadId, name }),
    );
    let id: unknown = bodyOf(answer)['id'];
    if (answer.status !== 201) {
      // An attempt that had no answer may have been the one that did it.
      const found = attempts > 1 ? await this.#untilAnswered(`/v1/${kind}?name=${name}`) : undefined;
      const records = (found ? bodyOf(found.answer)['data'] : []) as readonly { readonly id: string }[];
      id = records[0]?.id;
    }
    if (typeof id !== 'string') {
      this.#refuse('attach', answer);
      return;
    }
    this.counts.attached += 1;
    this.files.set(id, { kind, id, content });
  }

  async #makeTask(): Promise<string> {
    const { answer } = await this.#untilAnswered('/v1/tasks', () => json({ title: newId() }));
    return String(bodyOf(answer)['id']);
  }

  async #replace({ kind, id }: KnownFile, route: Route): Promise<void> {
    const content = textOf(this.#anySize());
    const uploadId = await this.#upload(route, `${newId()}.txt`, content);
    if (uploadId === undefined) return;
    const { answer, attempts } = await this.#untilAnswered(`/v1/${kind}/${id}`, () => ({
      ...json({ content: uploadId }),
      method: 'PATCH',
    }));
    const isDone = answer.status === 200 || (attempts > 1 && (await this.#contentOf(kind, id))?.equals(content));
    if (!isDone) return this.#refuse('replace', answer);
    this.counts.replaced += 1;
    this.files.set(id, { kind, id, content });
  }

  async #delete({ kind, id }: KnownFile): Promise<void> {
    const { answer, attempts } = await this.#untilAnswered(`/v1/${kind}/${id}`, () => ({ method: 'DELETE' }));
    const isDone = answer.status < 300 || (attempts > 1 && answer.status === 404);
    if (!isDone) return this.#refuse('delete', answer);
    this.counts.deleted += 1;
    this.files.delete(id);
  }

  async #download({ kind, id, content }: KnownFile): Promise<void> {
    const read = await this.#contentOf(kind, id);
    this.counts.downloads += 1;
    if (!read?.equals(content)) this.unexpected.push(`${kind} ${id} was downloaded with ${read?.length} bytes`);
  }

  /** The bytes that a record has now. */
  async #contentOf(kind: KnownFile['kind'], id: string): Promise<Buffer | undefined> {
    const { answer } = await this.#untilAnswered(`/v1/${kind}/${id}`);
    const { content } = bodyOf(answer) as { content?: { id: string } };
    const download = content && (await this.#untilAnswered(`/v1/files/${content.id}/download`)).answer;
    return download?.status === 200 ? download.bytes : undefined;
  }

  /** @returns the id of the upload, when a record can take it */
  async #upload(route: Route, name: string, content: Buffer): Promise<string | undefined> {
    const id = await this.#send(route, name, content);
    if (id === undefined) return undefined;
    this.counts.uploads += 1;
    if (route === 'form') return id;
    for (;;) {
      const { answer } = await this.#untilAnswered(`/v1/uploads/${id}`);
      const { status } = bodyOf(answer);
      if (status === 'ready') return id;
      if (status !== 'arrived') return this.#refuse(`wait for the check of ${id}`, answer);
      await pause(50);
    }
  }

  async #send(route: Route, name: string, content: Buffer): Promise<string | undefined> {
    if (route === 'form') {
      const { answer } = await this.#untilAnswered('/v1/uploads', () => {
        const body = new FormData();
        body.append('uploadFile', new Blob([content as Buffer<ArrayBuffer>], { type: 'text/plain' }), name);
        return { method: 'POST', body };
      });
      const [upload] = (bodyOf(answer)['uploads'] ?? []) as { id: string }[];
      return upload?.id ?? this.#refuse('upload', answer);
    }
    return route === 'direct' ? this.#sendDirectly(name, content) : this.#sendInPieces(name, content);
  }

  async #sendDirectly(name: string, content: Buffer): Promise<string | undefined> {
    const sha256 = createHash('sha256').update(content).digest('hex');
    const begun = await this.#untilAnswered('/v1/uploads/direct', () =>
      json({ name, size_bytes: content.length, type: 'text/plain', sha256 }),
    );
    const { id, url, headers } = bodyOf(begun.answer) as { id: string; url: string; headers: Record<string, string> };
    if (id === undefined) return this.#refuse('begin a direct upload', begun.answer);
    const { origin, pathname, search } = new URL(url);
    const isHere = pathname.startsWith('/v1/uploads/');
    const call = () => ({ method: 'PUT', body: content, headers });
    const { answer, attempts } = await this.#untilAnswered(pathname + search, call, isHere ? undefined : origin);
    // One that had no answer may have arrived.
    if (answer.status >= 300 && !(attempts > 1 && answer.status === 409)) return this.#refuse('put', answer);
    if (!isHere) {
      const completed = await this.#untilAnswered(`/v1/uploads/${id}/complete`, () => ({ method: 'POST' }));
      if (completed.answer.status !== 204) return this.#refuse('complete', completed.answer);
    }
    return id;
  }

  async #sendInPieces(name: string, content: Buffer): Promise<string | undefined> {
    const tus = { 'tus-resumable': '1.0.0' };
    const begun = await this.#untilAnswered('/v1/uploads/resumable', () => ({
      method: 'POST',
      headers: {
        ...tus,
        'upload-length': String(content.length),
        'upload-metadata': `filename ${Buffer.from(name).toString('base64')}`,
      },
    }));
    const location = begun.answer.headers.get('location');
    if (location === null) return this.#refuse('begin a resumable upload', begun.answer);
    for (;;) {
      const { answer } = await this.#untilAnswered(location);
      const { status, received_bytes: received } = bodyOf(answer);
      if (status === 'arrived' || status === 'ready') return location.split('/').at(-1);
      if (status !== 'receiving') return this.#refuse(`continue ${location}`, answer);
      const headers = {
        ...tus,
        'upload-offset': String(received),
        'content-type': 'application/offset+octet-stream',
      };
      // Whatever it answers, and if it does not, the server says how far the upload is.
      const sent = await this.#ask(location, { method: 'PATCH', headers, body: content.subarray(Number(received)) });
      if (sent?.status !== 204) await pause(100);
    }
  }

  #refuse(doing: string, { status, bytes }: Answer): undefined {
    this.unexpected.push(`could not ${doing}: ${status} ${bytes.subarray(0, 500).toString()}`);
    return undefined;
  }

  /** A random file that no client is at. */
  #free(): KnownFile | undefined {
    const free = [...this.files.values()].filter(({ id }) => !this.#busy.has(id));
    return free.length === 0 ? undefined : this.#options.random.pick(free);
  }

  async #exclusively({ id }: KnownFile, work: () => Promise<void>): Promise<void> {
    this.#busy.add(id);
    await work();
    this.#busy.delete(id);
  }

  async #untilAnswered(path: string, call: () => Call = () => ({}), origin?: string) {
    for (let attempts = 1; ; attempts++) {
      const answer = await this.#ask(path, call(), origin);
      const isFinal = answer && !again.has(answer.status) && !(origin && answer.status >= 500);
      // A body that was put before its answer was lost is refused with 409 for good.
      const isThere = answer?.status === 409 && attempts > 1 && bodyOf(answer)['code'] !== 'upload_busy';
      if (isFinal || isThere) return { answer, attempts };
      if (answer) this.counts.putOff += 1;
      else this.counts.unanswered += 1;
      await pause(100);
    }
  }

  #someUrl(): string | undefined {
    const urls = this.#options.urls();
    return urls.length === 0 ? undefined : this.#options.random.pick(urls);
  }

  async #ask(path: string, { method = 'GET', headers, body }: Call, origin?: string): Promise<Answer | undefined> {
    const url = origin ?? (await eventually(() => this.#someUrl()));
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { ...(origin ? {} : { authorization: `Bearer ${this.#bearer}` }), ...headers },
        body: (body as Buffer<ArrayBuffer> | undefined) ?? null,
      });
      return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
    } catch {
      return undefined;
    }
  }
}

function json(body: object): Call {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(body)) };
}

function bodyOf({ bytes, headers }: Answer): Readonly<Record<string, unknown>> {
  if (!headers.get('content-type')?.includes('json')) return {};
  return JSON.parse(bytes.toString()) as Record<string, unknown>;
}

/** Text that no two files share. */
function textOf(sizeBytes: number): Buffer {
  return Buffer.from(
    randomBytes(Math.ceil(sizeBytes / 2))
      .toString('hex')
      .slice(0, sizeBytes),
  );
}
