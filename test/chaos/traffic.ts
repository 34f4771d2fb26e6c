import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '#entities/kit/base/ids.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, testPassword } from '../kit/people.ts';
import type { World } from '../kit/world.ts';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface TrafficOptions {
  /** Addresses that may be asked now; while there are none, people wait. */
  readonly urls: () => readonly string[];
  /** Statuses that tell people to come again, besides no answer at all; default 503, which a busy machine answers, too. */
  readonly again?: readonly number[];
}

/**
 * Clients that send requests while servers die, and repeat each until it is answered. They remember what was answered, which must
 * then have happened once, and what was refused, which must not have happened.
 */
export class Visitors {
  /** Addresses whose sign-up was accepted. */
  readonly signedUp: string[] = [];
  /** Names of organizations that were created. */
  readonly created: string[] = [];
  /** Names that requests wrote before they were refused, or before their server died. */
  readonly refused: string[] = [];
  /** Answers that nobody should get. */
  readonly unexpected: unknown[] = [];
  /** Requests that nobody answered. */
  unanswered = 0;
  /** Answers that said to come again: content types of their bodies. */
  readonly putOff: string[] = [];
  readonly #options: TrafficOptions;
  readonly #csrf: Readonly<Record<string, string>>;
  readonly #bearer: string;

  private constructor(options: TrafficOptions, csrf: Record<string, string>, bearer: string) {
    this.#options = options;
    this.#csrf = csrf;
    this.#bearer = bearer;
  }

  static async of(world: World, options: TrafficOptions): Promise<Visitors> {
    const { user } = await buildPerson(world);
    const client = world.client();
    const login = await client.post('/v1/login', { username: user.email, password: testPassword });
    const stranger = world.client();
    await stranger.get('/livez');
    const { cookie, header } = world.config.current.server.csrfprotection;
    const token = stranger.cookies.get(cookie) ?? '';
    return new Visitors(options, { [header]: token, cookie: `${cookie}=${token}` }, String(login.body.access_token));
  }

  async signUp(): Promise<void> {
    const email = `person-${newId().toLowerCase()}@example.com`;
    const { answer } = await this.#untilAnswered('/v1/register', { email, password: testPassword }, this.#csrf);
    if (answer.status === 202) this.signedUp.push(email);
    else this.unexpected.push(answer);
  }

  async createOrganization(): Promise<void> {
    const name = `chaos-${newId().toLowerCase()}`;
    const { answer, attempts } = await this.#mutate(once, name);
    // An attempt that had no answer may have been the one that did it.
    const isMade = answer.body['data'] || (attempts > 1 && codeOf(answer) === 'already_exists');
    if (isMade) this.created.push(name);
    else this.unexpected.push(answer);
  }

  /** A request that writes and announces an organization, and then fails. */
  async beRefused(): Promise<void> {
    const name = `refused-${newId().toLowerCase()}`;
    this.refused.push(name);
    const { answer } = await this.#mutate(twice, name);
    if (codeOf(answer) !== 'already_exists' || answer.body['data']) this.unexpected.push(answer);
  }

  /** How much has been done. */
  get count(): number {
    return this.signedUp.length + this.created.length + this.refused.length;
  }

  /** One after the other. */
  async visit(): Promise<void> {
    await this.signUp();
    await this.createOrganization();
    await this.createOrganization();
    await this.beRefused();
  }

  /**
   * Does something again and again until told to stop.
   * @param pauseMs time that people take between two visits, in which servers get on
   */
  async repeat(signal: AbortSignal, visit: () => Promise<void>, pauseMs = 150): Promise<void> {
    while (!signal.aborted) {
      await visit();
      await pause(pauseMs);
    }
  }

  #mutate(query: string, name: string) {
    return this.#untilAnswered('/graphql', { query, variables: { name } }, { authorization: `Bearer ${this.#bearer}` });
  }

  async #untilAnswered(path: string, body: object, headers: Readonly<Record<string, string>>) {
    const { again = [503] } = this.#options;
    for (let attempts = 1; ; attempts++) {
      const answer = await this.#ask(path, body, headers);
      if (answer && !again.includes(answer.status)) return { answer, attempts };
      if (answer) {
        this.putOff.push(answer.type);
        // As a client does that is told to come again.
        await pause(100);
      } else this.unanswered++;
    }
  }

  async #ask(path: string, body: object, headers: Readonly<Record<string, string>>): Promise<Answer | undefined> {
    const url = await eventually(() => someOf(this.#options.urls()));
    try {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      const type = response.headers.get('content-type') ?? '';
      return { status: response.status, type, body: (await response.json()) as Answer['body'] };
    } catch {
      return undefined;
    }
  }
}

const make = (alias: string) => `${alias}: createOrganization(input: { name: $name }) { organization { id } }`;
const once = `mutation ($name: String!) { ${make('first')} }`;
const twice = `mutation ($name: String!) { ${make('first')} ${make('second')} }`;

function codeOf({ body }: Answer): unknown {
  const [error] = (body['errors'] ?? []) as { extensions?: { code?: unknown } }[];
  return error?.extensions?.code;
}

function someOf(urls: readonly string[]): string | undefined {
  return urls[Math.floor(Math.random() * urls.length)];
}
