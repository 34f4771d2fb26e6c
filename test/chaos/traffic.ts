import { newId } from '#entities/kit/base/ids.ts';
import { buildPerson, testPassword } from '../kit/people.ts';
import type { World } from '../kit/world.ts';
import { PatientClient, repeat, type Answer, type TrafficOptions } from './patient-client.ts';

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
  readonly #client: PatientClient;
  readonly #csrf: Readonly<Record<string, string>>;
  readonly #bearer: string;

  private constructor(options: TrafficOptions, csrf: Record<string, string>, bearer: string) {
    this.#client = new PatientClient(options);
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

  /** Requests that nobody answered. */
  get unanswered(): number {
    return this.#client.unanswered;
  }

  /** Answers that said to come again: content types of their bodies. */
  get putOff(): readonly string[] {
    return this.#client.putOff;
  }

  async signUp(): Promise<void> {
    const email = `person-${newId().toLowerCase()}@example.com`;
    const body = { email, password: testPassword };
    const { answer } = await this.#client.untilAnswered({ path: '/v1/register', body, headers: this.#csrf });
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
  repeat(signal: AbortSignal, visit: () => Promise<void>, pauseMs = 150): Promise<void> {
    return repeat(signal, visit, pauseMs);
  }

  #mutate(query: string, name: string) {
    return this.#client.untilAnswered({
      path: '/graphql',
      body: { query, variables: { name } },
      headers: { authorization: `Bearer ${this.#bearer}` },
    });
  }
}

const make = (alias: string) => `${alias}: createOrganization(input: { name: $name }) { organization { id } }`;
const once = `mutation ($name: String!) { ${make('first')} }`;
const twice = `mutation ($name: String!) { ${make('first')} ${make('second')} }`;

function codeOf({ body }: Answer): unknown {
  const [error] = (body['errors'] ?? []) as { extensions?: { code?: unknown } }[];
  return error?.extensions?.code;
}
