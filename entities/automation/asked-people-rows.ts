import { snakeCase } from '../kit/base/snake-case.ts';
import type { EntityModule } from '../kit/model/define.ts';
import { sharedRecordField } from '../kit/model/derived/share.ts';
import type { Work } from '../kit/storage/work.ts';

/** Open instance that asks a person, or has asked them. */
export interface AskingInstance {
  readonly instanceId: string;
  readonly organizationId: string;
}

/** SQL of the people of a record, which may be deleted; its parameter is the id of the record. */
const people = {
  membership: 'select user_id from memberships where id = $1',
  group_membership: 'select user_id from group_memberships where id = $1',
  user: 'select id from users where id = $1',
  group: 'select user_id from group_memberships where group_id = $1',
} as const;

/** Topics of the kinds whose records say who may decide. */
export type PeopleKind = keyof typeof people;

/** The open instances that ask the person of a membership, of a group membership, or of an account, or people who are or were in a group. */
export function instancesAsking(work: Work, kind: PeopleKind, id: string): Promise<AskingInstance[]> {
  return work.rowsAsSystem<AskingInstance & Record<string, unknown>>(
    `select distinct i.id as "instanceId", i.organization_id as "organizationId"
       from workflow_assignments a join workflow_instances i on i.id = a.instance_id
      where a.user_id in (${people[kind]}) and a.status <> 'cancelled' and a.deleted_at is null
        and i.ended_at is null and i.deleted_at is null
      order by i.id`,
    [id],
  );
}

/** The open instances of an organization for which nobody can decide, as their context says. */
export function unattendedInstances(work: Work, organizationId: string): Promise<AskingInstance[]> {
  return work.rowsAsSystem<AskingInstance & Record<string, unknown>>(
    `select id as "instanceId", organization_id as "organizationId" from workflow_instances
      where organization_id = $1 and ended_at is null and deleted_at is null and status = 'waiting'
        and jsonb_path_exists(context, '$.approvals.*.unattendedSince') order by id`,
    [organizationId],
  );
}

/** A kind, and the kind of its shares. */
export interface SharedKind {
  readonly module: EntityModule;
  readonly shares: EntityModule;
}

/** The open instances about the record of a share, which may be deleted. */
export function instancesOfShared(
  work: Work,
  { shares: { table }, module }: SharedKind,
  shareId: string,
): Promise<AskingInstance[]> {
  return work.rowsAsSystem<AskingInstance & Record<string, unknown>>(
    `select i.id as "instanceId", i.organization_id as "organizationId"
       from workflow_instances i join "${table}" s on s."${snakeCase(sharedRecordField(module))}" = i.subject_id
      where s.id = $1 and i.ended_at is null and i.deleted_at is null order by i.id`,
    [shareId],
  );
}

/** Actor who made an API token, also once it is deleted: a program acts for that person. */
export async function makerOfToken(work: Work, tokenId: string): Promise<string | undefined> {
  const [token] = await work.rowsAsSystem<{ maker: string }>(
    'select created_by as maker from api_tokens where id = $1',
    [tokenId],
  );
  return token?.maker;
}
