import { export as exportKind } from '#entities/transfers/export.ts';
import { import as importKind } from '#entities/transfers/import.ts';
import { notification } from '#entities/notifications/notification.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Types } from '../hand-written-field.ts';
import type { FieldMap } from '../passthrough-field.ts';
import { notificationAddedField } from './notification-added-field.ts';
import { recordChangedField } from './record-changed-field.ts';
import { transferProgressField } from './transfer-progress-field.ts';

/** Subscriptions of the kinds that the registry has. */
export function subscriptionFields(types: Types): FieldMap {
  const has = (module: EntityModule) => types.registry.modules.includes(module);
  return {
    recordChanged: recordChangedField(types.registry),
    ...(has(notification) ? { notificationAdded: notificationAddedField(types) } : {}),
    ...(has(exportKind) ? { exportProgress: transferProgressField(types, exportKind) } : {}),
    ...(has(importKind) ? { importProgress: transferProgressField(types, importKind) } : {}),
  };
}
