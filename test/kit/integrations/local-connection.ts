import { expect } from 'vitest';
import { asOwner } from '../as-owner.ts';
import { FakeIdentityProvider, type FakePerson } from '../fakes/fake-identity-provider.ts';
import type { TestAnswer, TestClient } from '../test-client.ts';
import { openWorld, type World, type WorldOptions } from '../world.ts';

/** Name of the cookie with the state of an integration that is being connected. */
export const connectCookie = 'integration_state';

export const callbackOfWorld = 'https://api.test/v1/integrations/auth/callback';

export const localPerson: FakePerson = {
  sub: 'person-1',
  email: 'person@example.com',
  email_verified: true,
  name: 'A Person',
};

/** An integration that waits for the return of the browser. */
export interface Begun {
  readonly id: string;
  readonly authUrl: string;
}

/** Configuration of the integration `oidclocal` with a provider. */
export function localSettings({
  url,
  client,
}: {
  readonly url: string;
  readonly client: { readonly id: string; readonly secret: string };
}) {
  return {
    CORE_INTEGRATIONS_OIDCLOCAL_ENABLED: 'true',
    CORE_INTEGRATIONS_OIDCLOCAL_CLIENTID: client.id,
    CORE_INTEGRATIONS_OIDCLOCAL_CLIENTSECRET: client.secret,
    CORE_INTEGRATIONS_OIDCLOCAL_DISCOVERYURL: url,
    CORE_INTEGRATIONS_OIDCLOCAL_REDIRECTURL: callbackOfWorld,
  };
}

/** A world that offers `oidclocal`, with a provider that tests control. */
export class LocalConnections {
  readonly world: World;
  readonly fake: FakeIdentityProvider;

  private constructor(world: World, fake: FakeIdentityProvider) {
    this.world = world;
    this.fake = fake;
  }

  static async open(options: WorldOptions = {}): Promise<LocalConnections> {
    let now = () => new Date();
    const fake = await FakeIdentityProvider.start(() => now());
    const environment = { ...localSettings(fake), ...options.environment };
    const world = await openWorld({ ...options, environment });
    now = () => world.clock.now();
    return new LocalConnections(world, fake);
  }

  async begin(client: TestClient, input: object = {}): Promise<Begun> {
    const { status, body } = await client.post('/v1/integrations/auth/start', {
      definition_id: 'oidclocal',
      ...('integration_id' in input ? {} : { name: `local ${++this.#count}` }),
      ...input,
    });
    expect(status, JSON.stringify(body)).toBe(200);
    return { id: body.id, authUrl: body.auth_url };
  }

  #count = 0;

  /** The URL to which the provider sends the browser back. */
  approve({ authUrl }: Pick<Begun, 'authUrl'>, person = localPerson): URL {
    return this.fake.approve(authUrl, person);
  }

  /** Goes the whole way. */
  async connect(client: TestClient, input: object = {}): Promise<{ readonly id: string; readonly answer: TestAnswer }> {
    const begun = await this.begin(client, input);
    return { id: begun.id, answer: await come(client, this.approve(begun)) };
  }

  /** Number of codes that were exchanged, or tried. */
  exchanges(): number {
    return this.fake.asked.filter((path) => path === '/token').length;
  }

  /** Status, number of credentials and responsible person of an integration as it is stored, deleted or not. */
  async stored(id: string): Promise<{ readonly status: string; readonly credentials: number } | undefined> {
    const [row] = await asOwner<{ status: string; credentials: number }>(
      this.world,
      `select status, (select count(*)::int from secrets where integration_id = i.id) as credentials
         from integrations i where id = $1`,
      [id],
    );
    return row;
  }

  async close(): Promise<void> {
    await this.world.close();
    await this.fake.close();
  }
}

/** The browser comes back. */
export function come(client: TestClient, { pathname, search }: URL): Promise<TestAnswer> {
  return client.get(pathname + search);
}
