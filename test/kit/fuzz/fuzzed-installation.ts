import type { InjectOptions } from 'fastify';
import { errorCatalogue, errorCategories } from '#entities/kit/base/error-catalogue.ts';
import { registry } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { AuthorizationFixtures } from '../records/authorization-fixtures.ts';
import { buildPerson, signedIn, type Person } from '../people.ts';
import type { Random } from '../random.ts';
import type { TestAnswer, TestClient } from '../test-client.ts';
import type { Instance, World } from '../world.ts';
import type { FuzzIds } from './hostile-values.ts';
import { jsonWithoutTexts, secretsIn, sentBy, wordsOf } from './secret-words.ts';

/** Requests after which the caller gets a new account with new records: what was sent may have deleted them. */
const renewedEvery = 1_000;

/** Requests after which it is asked whether the caller is still signed in. */
const checkedEvery = 25;

/** Two organizations: people of one send generated requests, and never see anything of the other. */
export class FuzzedInstallation {
  readonly #world: World;
  readonly #instance: Instance;
  readonly #own = new Map<string, string>();
  readonly #theirs = new Map<string, string>();
  #secrets: ReadonlySet<string> = new Set();
  /** Those of them that callers have sent in changes that were made. */
  readonly #written = new Set<string>();
  #clients: readonly TestClient[] = [];
  #sent = 0;
  #seenLogs = 0;
  /** Answers by status. */
  readonly statuses = new Map<number, number>();
  /** Faults that were found, with the request. */
  readonly faults: string[] = [];

  private constructor(world: World, instance: Instance) {
    this.#world = world;
    this.#instance = instance;
  }

  static async open(world: World): Promise<FuzzedInstallation> {
    // Providers of sign-in are addresses that nobody answers.
    const installation = new FuzzedInstallation(world, await world.openInstance({ providerTimeoutMs: 200 }));
    const victim = await buildPerson(world);
    await furnish(world, victim, installation.#theirs);
    await installation.#renew();
    installation.#secrets = await wordsOf(world, victim);
    return installation;
  }

  get ids(): FuzzIds {
    return { own: this.#own, theirs: this.#theirs };
  }

  /**
   * Sends a request by somebody, and notes what is wrong with the answer.
   * @param about what is sent, and what repeats it
   * @param check says what else is wrong with the answer
   */
  async send(
    random: Random,
    about: string,
    request: InjectOptions,
    check: (answer: TestAnswer) => string | undefined = () => undefined,
  ): Promise<void> {
    await this.#keepSignedIn();
    this.#sent++;
    const client = random.pick(this.#clients);
    const answer = await client.mutate(request);
    this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
    const unlike = check(answer);
    const wrong = [
      ...(unlike === undefined ? [] : [unlike]),
      ...problemsOf(answer),
      ...this.#leaksIn(answer, request),
      ...this.#loggedErrors(),
    ];
    if (wrong.length > 0)
      this.faults.push(`${about}: ${wrong.join('; ')}\n  ${shown(request)}\n  ${answer.status} ${shown(answer.body)}`);
  }

  async #keepSignedIn(): Promise<void> {
    if (this.#sent % renewedEvery === 0 && this.#sent > 0) return this.#renew();
    if (this.#sent % checkedEvery !== 0) return;
    for (const client of this.#clients.slice(0, -1)) {
      const { data } = await client.graphql('{ self { id } organizations(first: 1) { totalCount } }');
      if (!data?.self || data.organizations.totalCount === 0) return this.#renew();
    }
  }

  /** An owner by cookie, mostly; the same one by bearer token; a member; and somebody who is not signed in. */
  async #renew(): Promise<void> {
    const owner = await buildPerson(this.#world);
    await furnish(this.#world, owner, this.#own, sealedByRoutes);
    const member = await buildPerson(this.#world, { organization: owner.organization, role: 'member' });
    const cookie = await signedIn(this.#instance, owner);
    // Its secret is encrypted by the route alone; nobody answers there.
    const provider = { issuer: 'https://127.0.0.1:1', client_id: 'fuzz', client_secret: newId() };
    await cookie.mutate({ method: 'PUT', url: '/v1/sso/provider', payload: provider });
    const bearer = this.#instance.client();
    bearer.bearer = (await signedIn(this.#instance, owner)).cookies.get('access_token');
    this.#clients = [cookie, cookie, cookie, bearer, await signedIn(this.#instance, member), this.#instance.client()];
  }

  #leaksIn({ status, body, headers }: TestAnswer, request: InjectOptions): string[] {
    const sent = sentBy(request);
    const shownWords = secretsIn(`${JSON.stringify(body)} ${JSON.stringify(headers)}`, this.#secrets);
    const told = shownWords.filter((word) => !sent.includes(word));
    if (status < 300 && request.method !== 'GET')
      for (const word of secretsIn(sent, this.#secrets)) this.#written.add(word);
    if (told.length === 0) return [];
    // Words that a caller has written into a text return in this text, and nowhere else.
    const elsewhere = `${jsonWithoutTexts(body)} ${JSON.stringify(headers)}`;
    return told
      .filter((word) => !this.#written.has(word) || elsewhere.includes(word))
      .map((word) => `shows ${word} of another organization`);
  }

  #loggedErrors(): string[] {
    const { logs } = this.#world;
    const found = logs.slice(this.#seenLogs).filter(({ level }) => level === 'error' || level === 'fatal');
    this.#seenLogs = logs.length;
    if (logs.length > 20_000) {
      logs.length = 0;
      this.#seenLogs = 0;
    }
    return found.map((line) => `logs ${shown(line)}`);
  }
}

/** Kinds with secrets that their routes encrypt, and without that cannot be opened. */
const sealedByRoutes: readonly string[] = ['secondFactor'];

async function furnish(
  world: World,
  person: Person,
  ids: Map<string, string>,
  without: readonly string[] = [],
): Promise<void> {
  const fixtures = new AuthorizationFixtures(world, person);
  for (const { kind } of registry.modules) {
    if (without.includes(kind)) continue;
    const { id } = await fixtures.record(kind, kind === 'group' ? 'public' : 'any');
    ids.set(kind, id);
  }
}

/** Faults of a response that no request may have. */
function problemsOf({ url, status, headers, body }: TestAnswer): string[] {
  const codes: unknown[] = [];
  if (Array.isArray(body?.errors) && url.startsWith('/graphql') && !headers['content-type']?.includes('problem'))
    codes.push(...body.errors.map((error: { extensions?: { code?: unknown } }) => error.extensions?.code));
  else if (status >= 400 && !headers['content-type']?.includes('scim')) codes.push(body?.code);
  return [
    ...(status >= 500 && body?.code !== 'provider_unavailable' ? [`is answered with ${status}`] : []),
    ...codes.filter((code) => !isOfTheCaller(code)).map((code) => `has the code ${String(code)}`),
  ];
}

/** Whether a code is one of the catalogue that says what is wrong with the request. */
function isOfTheCaller(code: unknown): boolean {
  // The first belongs to the protocol of persisted queries, the second to a sign-in provider at an address that does not answer.
  if (code === 'PERSISTED_QUERY_NOT_FOUND' || code === 'provider_unavailable') return true;
  if (typeof code !== 'string' || !Object.hasOwn(errorCatalogue, code)) return false;
  return errorCategories[errorCatalogue[code as keyof typeof errorCatalogue].category] < 500;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, 700);
}
