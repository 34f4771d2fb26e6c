import type { AuthorizationStoreSettings } from '#activities/clients/fga/authorization-store.ts';
import { modelToWrite } from '#activities/clients/fga/model-file.ts';
import { storeCredentials } from '#activities/clients/fga/store-credentials.ts';
import { writtenModel } from '#activities/clients/fga/written-model.ts';
import type { Config } from '#config/objects/root.ts';
import { deriveModel } from '#entities/kit/model/authorization-model.ts';
import { readInstallation } from '#entities/kit/storage/read-installation.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { requireUsableConditions } from '#relay/authorization/parent-context.ts';

/**
 * Settings of the authorization store, with the model that is written to it.
 * @throws ConfigurationError for a model file, or conditions of the parent context, that cannot be used
 */
export async function authorizationStoreSettings(
  { authz, db }: Config,
  registry: Registry,
): Promise<AuthorizationStoreSettings> {
  const model = await modelToWrite(authz, writtenModel(deriveModel(registry)));
  requireUsableConditions(registry, authz, model);
  return {
    hostUrl: authz.hosturl,
    storeName: authz.storename,
    storeId: authz.storeid,
    modelId: authz.modelid,
    createNewModel: authz.createnewmodel,
    credentials: storeCredentials(authz.credentials),
    model,
    installation: () => readInstallation(db.primarydbsource),
  };
}
