import type { OpenFgaClient } from '@openfga/sdk';
import { foreignStore, ownershipOf, type Installation } from './store-owner.ts';

/**
 * Makes the client use the store of this installation: the one with the given id, otherwise the one with the given name. Where the name
 * belongs to another installation, it is a store whose name ends with the id of this one. A missing store is created.
 * @returns whether it has been claimed
 * @throws ForeignStore when the id belongs to another installation
 */
export async function chooseStore(
  client: OpenFgaClient,
  installation: Installation,
  { storeId, storeName }: { readonly storeId: string; readonly storeName: string },
): Promise<'own' | 'free'> {
  client.storeId = storeId || (await storeByName(client, storeName));
  let ownership = await ownershipOf(client, installation);
  if (ownership === 'foreign' && storeId === '') {
    client.storeId = await storeByName(client, ownStoreName(storeName, installation));
    ownership = await ownershipOf(client, installation);
  }
  if (ownership === 'foreign') throw foreignStore(client, installation);
  return ownership;
}

/** OpenFGA accepts up to 64 characters. */
function ownStoreName(storeName: string, { id }: Installation): string {
  return `${storeName.slice(0, 63 - id.length)}-${id}`;
}

/** Store names are not unique: of several that processes created at the same time, all use the oldest. */
async function storeByName(client: OpenFgaClient, storeName: string): Promise<string> {
  const held = await oldestStore(client, storeName);
  if (held) return held;
  const created = await client.createStore({ name: storeName });
  return (await oldestStore(client, storeName)) ?? created.id;
}

async function oldestStore(client: OpenFgaClient, storeName: string): Promise<string | undefined> {
  const found: { id: string; created_at: string }[] = [];
  let continuationToken: string | undefined;
  do {
    const page = await client.listStores({
      pageSize: 100,
      name: storeName,
      ...(continuationToken ? { continuationToken } : {}),
    });
    found.push(...page.stores.filter((store) => store.name === storeName));
    continuationToken = page.continuation_token || undefined;
  } while (continuationToken);
  return found.toSorted((a, b) => a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id))[0]?.id;
}
