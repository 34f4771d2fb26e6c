import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

const oneAfterTheOther = `begin
    perform pg_advisory_xact_lock(hashtextextended('uploads of ' || (doc ->> 'actor'), 0));
    if coalesce((doc -> 'declared' ->> 'sizeBytes')::bigint, 0) + (select coalesce(sum(coalesce(o.size_bytes,
        case when u.state in ('receiving', 'arrived') then (u.declared ->> 'sizeBytes')::bigint end, u.received)), 0)
        from uploads u join stored_objects o on o.id = u.object_id where u.actor = doc ->> 'actor' and u.state <> 'used')`;

/**
 * An upload without a declared size adds nothing to the sum before its bytes are there, so it needs no turn. `received` is the size
 * of the object as soon as that is known.
 */
const sideBySide = `begin
    if doc -> 'declared' ->> 'sizeBytes' is not null then
      perform pg_advisory_xact_lock(hashtextextended('uploads of ' || (doc ->> 'actor'), 0));
    end if;
    if coalesce((doc -> 'declared' ->> 'sizeBytes')::bigint, 0) + (select coalesce(sum(case when u.state in ('receiving', 'arrived')
        then coalesce((u.declared ->> 'sizeBytes')::bigint, u.received) else u.received end), 0)
        from uploads u where u.actor = doc ->> 'actor' and u.state <> 'used')`;

const changes: Changes = [[oneAfterTheOther, sideBySide]];

/** Forms of one caller are received side by side: they waited for each other until the row of each was committed. */
export class Migration20261124002500UploadsSideBySide extends Migration {
  override up(): void {
    this.addSql(changedFunction('begin_upload(jsonb)', changes));
  }

  override down(): void {
    this.addSql(changedFunction('begin_upload(jsonb)', undone(changes)));
  }
}
