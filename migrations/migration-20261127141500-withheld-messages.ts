import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

const written: Changes = [
  [
    `and w.topics && array[e.topic, e.entity_kind || '.*', '*']
          and w.scopes && array[e.entity_kind || ':read', e.entity_kind || ':write', e.entity_kind || ':delete']`,
    'and endpoint_wants(w.topics, w.scopes, e.topic, e.entity_kind)',
  ],
];

/** @param states as SQL */
const statesOf = (states: string) => [
  'alter table webhook_messages drop constraint webhook_messages_state_check',
  `alter table webhook_messages add constraint webhook_messages_state_check check (state in (${states}))`,
];

/** Whether an endpoint may receive a message is decided at each attempt as well; what it may not receive ends as `withheld`. */
export class Migration20261127141500WithheldMessages extends Migration {
  readonly locks = {
    webhook_messages: 'the values of a column are checked, which reads the messages of 30 days once',
  };

  override up(): void {
    this.addSql('alter table "webhook_endpoints" add column "url_changed_at" timestamptz null;');
    this.addSql(
      `comment on column "webhook_endpoints"."url_changed_at" is 'When the URL was last changed; null if it never was. Messages about earlier events are not sent to the new URL: they are withheld.';`,
    );
    // By its topics and scopes. It has no settings of its own, so that statements contain it.
    this
      .addSql(`create function endpoint_wants(topics text[], scopes text[], topic text, entity_kind text) returns boolean
      language sql immutable parallel safe
      return topics && array[topic, entity_kind || '.*', '*']
        and scopes && array[entity_kind || ':read', entity_kind || ':write', entity_kind || ':delete']`);
    this.addSql('revoke all on function endpoint_wants(text[], text[], text, text) from public');
    this.addSql('grant execute on function endpoint_wants(text[], text[], text, text) to core_app, core_system');
    this.addSql(changedFunction('write_changes(jsonb)', written));
    for (const statement of statesOf(`'due', 'delivered', 'failed', 'kept', 'withheld'`)) this.addSql(statement);
    this.addSql(`create index webhook_messages_withheld on webhook_messages (updated_at) where state = 'withheld'`);
  }

  override down(): void {
    this.addSql('drop index webhook_messages_withheld');
    this.addSql(`update webhook_messages set state = 'failed' where state = 'withheld'`);
    for (const statement of statesOf(`'due', 'delivered', 'failed', 'kept'`)) this.addSql(statement);
    this.addSql(changedFunction('write_changes(jsonb)', undone(written)));
    this.addSql('drop function endpoint_wants(text[], text[], text, text)');
    this.addSql('alter table "webhook_endpoints" drop column "url_changed_at"');
  }
}
