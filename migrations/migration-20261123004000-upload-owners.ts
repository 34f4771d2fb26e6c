import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

const anyUpload = `from uploads u where u.id = doc ->> 'id' for update;`;
const ownUpload = `from uploads u where u.id = doc ->> 'id' and u.actor = doc ->> 'actor'
      and u.organization_id is not distinct from doc ->> 'organization_id' for update;`;

/** What the caller has uploaded and no record has taken, with what this upload will have; bytes count until they are removed. */
const withinLimit = `begin
    perform pg_advisory_xact_lock(hashtextextended('uploads of ' || (doc ->> 'actor'), 0));
    if coalesce((doc -> 'declared' ->> 'sizeBytes')::bigint, 0) + (select coalesce(sum(coalesce(o.size_bytes,
        case when u.state in ('receiving', 'arrived') then (u.declared ->> 'sizeBytes')::bigint end, u.received)), 0)
        from uploads u join stored_objects o on o.id = u.object_id where u.actor = doc ->> 'actor' and u.state <> 'used')
        > (doc ->> 'max_unused_bytes')::bigint then
      raise exception 'You have uploaded too much that no record uses; attach it, or wait until it is removed.' using errcode = 'CR422';
    end if;
    insert into stored_objects`;

const changed: readonly (readonly [string, Changes])[] = [
  [
    'begin_upload(jsonb)',
    [
      [
        `begin
    insert into stored_objects`,
        withinLimit,
      ],
    ],
  ],
  ['finish_upload(jsonb)', [[anyUpload, ownUpload]]],
  ['refuse_upload(jsonb)', [[anyUpload, ownUpload]]],
  [
    'save_parts(jsonb)',
    [
      [
        `where id = doc ->> 'id' and state = 'receiving' and writer = doc ->> 'writer';`,
        `where id = doc ->> 'id' and actor = doc ->> 'actor' and organization_id is not distinct from doc ->> 'organization_id'
        and state = 'receiving' and writer = doc ->> 'writer';`,
      ],
    ],
  ],
  [
    'write_records(jsonb)',
    [
      [
        'organization text, owned boolean, at timestamptz)',
        'organization text, owned boolean, actor text, at timestamptz)',
      ],
      [
        `where o.owned and s.id = o.object and (s.state = 'ready'`,
        `where o.owned and s.id = o.object and ((s.state = 'ready'
            and exists (select 1 from uploads u where u.object_id = s.id and u.state = 'ready' and u.actor = o.actor))`,
      ],
    ],
  ],
];

/** Whoever has not uploaded a file cannot complete, refuse or attach it; what one caller uploads and no record takes is limited. */
export class Migration20261123004000UploadOwners extends Migration {
  override up(): void | Promise<void> {
    this.addSql(`create index uploads_actor on uploads (actor) where state <> 'used'`);
    for (const [signature, changes] of changed) this.addSql(changedFunction(signature, changes));
  }

  override down(): void | Promise<void> {
    for (const [signature, changes] of changed) this.addSql(changedFunction(signature, undone(changes)));
    this.addSql('drop index uploads_actor');
  }
}
