import { ClientWriteRequestOnDuplicateWrites, type OpenFgaClient } from '@openfga/sdk';
import type { Tuple } from '#entities/kit/model/tuples.ts';
import type { WrittenModel } from './written-model.ts';

/** The installation for which a store is used. */
export interface Installation {
  readonly id: string;
  /** Whether its database has tuples to store. */
  readonly hasTuples: boolean;
}

/** Type of the one tuple that names the installation to which a store belongs. It decides nothing. */
const ownerType = 'core_installation';
const ownerRelation = 'database';

/** The owner's tuple without its subject. */
const claim = { object: `${ownerType}:this`, relation: ownerRelation };

export class ForeignStore extends Error {
  override readonly name = 'ForeignStore';
}

export function foreignStore(client: OpenFgaClient, { id }: Installation): ForeignStore {
  return new ForeignStore(
    `The authorization store ${client.storeId} belongs to another database than this one (installation ${id}). Set authz.storeid to a store of its own, or leave it empty: then one is made.`,
  );
}

/** The model with the type of the owner's tuple. */
export function withOwnerType(model: WrittenModel): WrittenModel {
  if (model.type_definitions.some(({ type }) => type === ownerType)) return model;
  const definition = {
    type: ownerType,
    relations: { [ownerRelation]: { this: {} } },
    metadata: { relations: { [ownerRelation]: { directly_related_user_types: [{ type: ownerType }] } } },
  };
  return { ...model, type_definitions: [...model.type_definitions, definition] };
}

export function isOwnerTuple({ object }: Tuple): boolean {
  return object === claim.object;
}

/**
 * Owner of this store. A store without an owner that holds tuples, as they were made before stores had owners, is not that of a
 * database without any.
 */
export async function ownershipOf(
  client: OpenFgaClient,
  installation: Installation,
): Promise<'own' | 'free' | 'foreign'> {
  const owner = await ownerOf(client);
  if (owner !== undefined) return owner === subjectOf(installation) ? 'own' : 'foreign';
  if (installation.hasTuples) return 'free';
  const { tuples } = await client.read({}, { pageSize: 1 });
  return tuples.length === 0 ? 'free' : 'foreign';
}

/** Claims a store that belongs to nobody. @throws ForeignStore when another installation was first */
export async function claimStore(client: OpenFgaClient, installation: Installation): Promise<void> {
  const key = { ...claim, user: subjectOf(installation) };
  // Another process of this installation may have written it.
  await client.write(
    { writes: [key] },
    { conflict: { onDuplicateWrites: ClientWriteRequestOnDuplicateWrites.Ignore } },
  );
  if ((await ownerOf(client)) === key.user) return;
  await client.write({ deletes: [key] });
  throw foreignStore(client, installation);
}

function subjectOf({ id }: Installation): string {
  return `${ownerType}:${id}`;
}

/** Of several claims the oldest is valid. */
async function ownerOf(client: OpenFgaClient): Promise<string | undefined> {
  const { tuples } = await client.read(claim);
  const [first] = tuples.toSorted(
    (one, other) => one.timestamp.localeCompare(other.timestamp) || one.key.user.localeCompare(other.key.user),
  );
  return first?.key.user;
}
