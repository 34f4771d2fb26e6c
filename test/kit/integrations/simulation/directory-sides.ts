import { globalAdministrator } from '../../fakes/integrations/fake-directoryservice.ts';
import type { Random } from '../../random.ts';
import type { TestClient } from '../../test-client.ts';
import { DirectoryModel, type ModelPerson } from './directory-model.ts';
import type { SimulatedProviders } from './simulated-providers.ts';

/** An account as it is to be in the rows. */
export interface ExpectedAccount {
  readonly key: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly isActive: boolean;
}

/** The provider's side of one installation. */
export interface DirectorySide {
  readonly definitionId: string;
  readonly model: DirectoryModel;
  /** The definition brings groups in. */
  readonly hasGroups: boolean;
  /** Lists what the model has. */
  readonly publish: () => void;
  /** The URL to which the browser comes back. @param authUrl to which it was sent */
  readonly approve: (authUrl: string, client: TestClient) => Promise<URL> | URL;
  readonly expected: (person: ModelPerson) => ExpectedAccount;
}

export type SideOf = (providers: SimulatedProviders, random: Random, number: number) => DirectorySide;

/** An account with an address, at a provider that also lists accounts which are switched off. */
export const whole = ({ id, email, name, isActive }: ModelPerson): ExpectedAccount => ({
  key: id,
  email: email.toLowerCase(),
  name,
  isActive,
});

const tenantSide: SideOf = ({ directory }, random, number) => {
  const tenantId = uuidOf('a', number);
  const model = new DirectoryModel(random, (id, sort) => uuidOf(sort === 'person' ? 'b' : 'c', number * 100_000 + id));
  const administrator = uuidOf('d', number);
  const tenant = directory.addTenant(tenantId, { roles: new Map([[administrator, [globalAdministrator]]]) });
  return {
    definitionId: 'directoryservice',
    model,
    hasGroups: true,
    publish: () => {
      const users = [...model.people.values()].map(({ id, email, name, isActive }) => ({
        id,
        userPrincipalName: email,
        mail: email,
        displayName: name,
        accountEnabled: isActive,
        userType: 'Member',
      }));
      tenant.users.splice(0, Infinity, ...users);
      tenant.groups.splice(
        0,
        Infinity,
        ...[...model.groups.values()].map(({ id, name }) => ({ id, displayName: name })),
      );
      tenant.members.clear();
      for (const { id, members } of model.groups.values()) tenant.members.set(id, [...members]);
    },
    approve: async (authUrl, client) => {
      const { pathname, search } = directory.consent(authUrl, tenantId);
      const { headers } = await client.get(pathname + search);
      return directory.approve(String(headers.location), { tenantId, id: administrator });
    },
    expected: whole,
  };
};

const suiteSide: SideOf = ({ suite }, random, number) => {
  const customerId = `C0${String(number).padStart(7, '0')}`;
  const model = new DirectoryModel(random, (id) => `1${String(number * 100_000 + id).padStart(20, '0')}`);
  const customer = suite.addCustomer(customerId);
  return {
    definitionId: 'officesuite',
    model,
    hasGroups: true,
    publish: () => {
      const users = [...model.people.values()].map(({ id, email, name, isActive }) => ({
        id,
        primaryEmail: email,
        name: { fullName: name },
        suspended: !isActive,
      }));
      customer.users.splice(0, Infinity, ...users);
      customer.groups.splice(0, Infinity, ...[...model.groups.values()].map(({ id, name }) => ({ id, name })));
      customer.members.clear();
      for (const { id, members } of model.groups.values())
        customer.members.set(
          id,
          [...members].map((member) => ({ id: member, type: 'USER' })),
        );
    },
    approve: (authUrl) => suite.approve(authUrl, customerId),
    expected: whole,
  };
};

const codeHostSide: SideOf = ({ codeHost, world }, random, number) => {
  const installationId = String(5_000_000 + number);
  const model = new DirectoryModel(random, (id) => String(number * 100_000 + id));
  const installation = codeHost.install(installationId);
  const userOf = ({ id, name }: ModelPerson) => ({ id: Number(id), login: `login-${id}`, name });
  return {
    definitionId: 'codehostapp',
    model,
    hasGroups: true,
    publish: () => {
      installation.members.splice(0, Infinity, ...[...model.people.values()].map(userOf));
      const teams = [...model.groups.values()].map(({ id, name }) => ({ id: Number(id), slug: `team-${id}`, name }));
      installation.teams.splice(0, Infinity, ...teams);
      installation.teamMembers.clear();
      for (const { id, members } of model.groups.values()) {
        const people = [...members].flatMap((member) => model.people.get(member) ?? []);
        installation.teamMembers.set(`team-${id}`, people.map(userOf));
      }
    },
    approve: (authUrl) => {
      installation.updatedAt = world.clock.now();
      const url = new URL('https://api.test/v1/integrations/auth/callback');
      const state = new URL(authUrl).searchParams.get('state') ?? '';
      url.search = new URLSearchParams({ installation_id: installationId, setup_action: 'update', state }).toString();
      return url;
    },
    // It has neither addresses nor accounts that are switched off.
    expected: ({ id, name }) => ({ key: id, email: null, name, isActive: true }),
  };
};

const chatSide: SideOf = ({ chat }, random, number) => {
  const workspaceId = `T${String(number).padStart(9, '0')}`;
  const model = new DirectoryModel(random, (id) => `U${String(number * 100_000 + id).padStart(9, '0')}`);
  const workspace = chat.addWorkspace(workspaceId);
  return {
    definitionId: 'chat',
    model,
    hasGroups: false,
    publish: () => {
      const members = [...model.people.values()].map(({ id, email, name, isActive }) => ({
        id,
        name: `name-${id}`,
        deleted: !isActive,
        profile: { email, real_name: name },
      }));
      workspace.members.splice(0, Infinity, ...members);
    },
    approve: (authUrl) => chat.approve(authUrl, workspaceId),
    expected: whole,
  };
};

/** Its directory are the people who have signed in; the last one of the model signs in next. */
const localSide: SideOf = ({ local }, random, number) => {
  const model = new DirectoryModel(random, (id) => `person-${number}-${id}`);
  return {
    definitionId: 'oidclocal',
    model,
    hasGroups: false,
    publish: () => {},
    approve: (authUrl) => {
      const person = [...model.people.values()].at(-1) ?? fail();
      return local.approve(authUrl, { sub: person.id, email: person.email, email_verified: true, name: person.name });
    },
    expected: whole,
  };
};

/** Installations whose directory the server reads, one of each provider. */
export const readSides: readonly SideOf[] = [tenantSide, suiteSide, codeHostSide, chatSide, localSide];

function fail(): never {
  throw new Error('nobody is there who could sign in');
}

function uuidOf(digit: string, number: number): string {
  return `${digit.repeat(8)}-1111-4111-8111-${String(number).padStart(12, '0')}`;
}
