import { randomUUID } from 'node:crypto';
import { HttpFake, type Answering, type FakeRequest } from '../http-fake.ts';
import { misbehave, type Misbehaviour } from './misbehaviour.ts';

/** A provider over HTTP that misbehaves as a test sets it; its answers are those of the subclasses. */
export abstract class FakeProvider {
  /** Its behaviour at the next requests, before it works again. */
  readonly next: Misbehaviour[] = [];
  /** Its behaviour at all requests. */
  always: Misbehaviour | undefined;
  /** Runs before each request is answered, and may answer in its place. */
  before: ((request: FakeRequest) => Promise<Answering | undefined> | Answering | undefined) | undefined;
  /** Secrets that it has given out or taken: codes and tokens. */
  readonly secrets: string[] = [];
  readonly now: () => Date;
  #http: HttpFake | undefined;

  protected constructor(now: () => Date) {
    this.now = now;
  }

  /** Where the interfaces of the provider are, by their usual URLs. */
  abstract get urls(): Readonly<Record<string, string>>;

  get url(): string {
    return this.#http?.url ?? '';
  }

  get requests(): readonly FakeRequest[] {
    return this.#http?.requests ?? [];
  }

  /** Forgets what it was asked. */
  forget(): void {
    this.#http?.requests.splice(0);
  }

  async close(): Promise<void> {
    await this.#http?.close();
  }

  protected abstract answer(request: FakeRequest): Answering | Promise<Answering>;

  protected async listen(): Promise<void> {
    this.#http = await HttpFake.start(async (request) => {
      const instead = await this.before?.(request);
      if (instead) return instead;
      const misbehaviour = this.next.shift() ?? this.always;
      return misbehaviour ? misbehave(misbehaviour, `${this.url}/elsewhere`) : this.answer(request);
    });
  }

  protected secret(sort: string): string {
    const secret = `${sort}-${randomUUID()}`;
    this.secrets.push(secret);
    return secret;
  }
}
