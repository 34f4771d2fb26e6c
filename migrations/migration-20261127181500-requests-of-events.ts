import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

const writeRecords: Changes = [
  ['traceparent, payload, pending)', 'traceparent, request_method, request_route, request_status, payload, pending)'],
  ['e.traceparent, e.payload, e.pending', 'e.traceparent, e.method, e.route, e.status, e.payload, e.pending'],
  ['pending boolean);', 'pending boolean, method text, route text, status int);'],
];

/** Events record the method, route and status of the HTTP request that caused them. */
export class Migration20261127181500RequestsOfEvents extends Migration {
  override up(): void {
    // Null for work of workers, and for events of before.
    this.addSql(
      'alter table events add column request_method text, add column request_route text, add column request_status int',
    );
    this.addSql(changedFunction('write_records(jsonb)', writeRecords));
  }

  override down(): void {
    this.addSql(changedFunction('write_records(jsonb)', undone(writeRecords)));
    this.addSql('alter table events drop column request_method, drop column request_route, drop column request_status');
  }
}
