import { isId } from '../base/ids.ts';
import { databaseRoles, sessionSettings } from './orm-schema.ts';

interface Beginning {
  readonly role: keyof typeof databaseRoles;
  readonly organizationId: string | null;
  readonly userId: string | null;
  readonly readOnly: boolean;
}

/** BEGIN with role, tenant settings and timeout, as one message. */
export function beginMessage(settings: Beginning, statementTimeoutMs: number): string {
  const { organizationId, userId } = settings;
  const parts = [settings.readOnly ? 'begin read only' : 'begin'];
  if (settings.role !== 'app') parts.push(`set local role ${databaseRoles[settings.role]}`);
  // Ids are inlined because SET takes no parameters; `checkedId` rejects everything but ULIDs.
  if (organizationId !== null)
    parts.push(`set local ${sessionSettings.organizationId} = '${checkedId(organizationId)}'`);
  if (userId !== null) parts.push(`set local ${sessionSettings.userId} = '${checkedId(userId)}'`);
  parts.push(`set local statement_timeout = ${statementTimeoutMs}`);
  return parts.join('; ');
}

function checkedId(id: string): string {
  if (isId(id)) return id;
  throw new TypeError(`${JSON.stringify(id)} is not an id`);
}
