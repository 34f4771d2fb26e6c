create table notifications (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  user_id text not null,
  type text not null,
  topic text not null,
  title text not null,
  body text,
  target_kind text,
  target_id text,
  is_read boolean not null,
  read_at timestamptz,
  event_id text not null,
  shown_to text,
  link text not null,
  variables jsonb,
  constraint notifications_target_kind_check check ((target_kind = any (array['task', 'note', 'webhook_endpoint', 'export', 'organization', 'group']))),
  constraint notifications_type_check check ((type = any (array['user', 'organization'])))
);
alter table notifications add constraint notifications_pkey primary key (id);
comment on table notifications is 'Notification of a person in an organization. Only its recipient views it, and only while they may view the record that it is about.';
comment on column notifications.user_id is 'Recipient.';
comment on column notifications.type is 'Whether it concerns its recipient personally (user), or all managers of the organization (organization).';
comment on column notifications.topic is 'Topic of the event, for example task.assigned.';
comment on column notifications.title is 'Summary of the event, in one line.';
comment on column notifications.body is 'Further text, for example the title of the record.';
comment on column notifications.target_kind is 'Kind of the record in `targetId`.';
comment on column notifications.target_id is 'Id of the record that it is about, for a link; `node(id)` reads the record.';
comment on column notifications.is_read is 'Whether the recipient has read it.';
comment on column notifications.read_at is 'When the recipient read it; null until then.';
comment on column notifications.event_id is 'Id of the event that it reports.';
comment on column notifications.shown_to is 'Id of the recipient; null when they have muted such notifications in the app.';
comment on column notifications.link is 'Page of the record in the application: a path, which begins with a slash.';
comment on column notifications.variables is 'Values of the variables of its text, for templates; null for one without.';
create unique index notifications_event_id_user_id_key on notifications (event_id, user_id) where (deleted_at is null);
create index notifications_organization_id_created_at_id_index on notifications (organization_id, created_at, id) where (deleted_at is null);
create index notifications_organization_id_id_index on notifications (organization_id, id) where (deleted_at is null);
create index notifications_organization_id_is_read_id_index on notifications (organization_id, is_read, id) where (deleted_at is null);
create index notifications_organization_id_shown_to_is_read_index on notifications (organization_id, shown_to, is_read) where (deleted_at is null);
create index notifications_organization_id_target_id_id_index on notifications (organization_id, target_id, id) where (deleted_at is null);
create index notifications_organization_id_target_kind_id_index on notifications (organization_id, target_kind, id) where (deleted_at is null);
create index notifications_organization_id_topic_id_index on notifications (organization_id, topic, id) where (deleted_at is null);
create index notifications_organization_id_type_id_index on notifications (organization_id, type, id) where (deleted_at is null);
create index notifications_organization_id_updated_at_id_index on notifications (organization_id, updated_at, id) where (deleted_at is null);
create index notifications_target_id_beginning on notifications (organization_id, "left"(matched_form(target_id), 100) collate "C") where (deleted_at is null);
create index notifications_topic_beginning on notifications (organization_id, "left"(matched_form(topic), 100) collate "C") where (deleted_at is null);
create index notifications_user_id_index on notifications (user_id);
alter table notifications enable row level security;
create policy notifications_app on notifications to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy notifications_system on notifications to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table notifications to core_app;
grant select,insert,update on table notifications to core_system;

create table notification_preferences (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  user_id text not null,
  channel text not null,
  topic_pattern text not null,
  cadence text not null,
  mute_until timestamptz,
  quiet_hours_start text,
  quiet_hours_end text,
  is_unsubscribed boolean not null,
  constraint notification_preferences_cadence_check check ((cadence = any (array['immediate', 'daily', 'weekly', 'monthly', 'mute']))),
  constraint notification_preferences_channel_check check ((channel = any (array['in_app', 'email', 'chat'])))
);
alter table notification_preferences add constraint notification_preferences_pkey primary key (id);
comment on table notification_preferences is 'Preference of a person for the notifications of an organization on one channel. Of several whose patterns fit, the one with the longest pattern applies.';
comment on column notification_preferences.user_id is 'Person whose preference it is.';
comment on column notification_preferences.channel is 'Channel to which it applies. The chat of an organization cannot be connected yet, so `chat` is refused.';
comment on column notification_preferences.topic_pattern is 'Topics to which it applies: one topic such as task.assigned, all of a kind such as task.*, or * for all other topics.';
comment on column notification_preferences.cadence is 'When notifications are sent: immediately (immediate), collected once a day, a week or a month, or never (mute). The list in the app interrupts nobody, so there every cadence except mute has the effect of immediate.';
comment on column notification_preferences.mute_until is 'No notifications are sent before this time; those held back are sent then.';
comment on column notification_preferences.quiet_hours_start is 'Time of day as HH:MM from which no notifications are sent, in the time zone of the person: that of their settings, otherwise that of the organization.';
comment on column notification_preferences.quiet_hours_end is 'Time of day as HH:MM from which notifications are sent again. If it is earlier than the start, it is on the next day.';
comment on column notification_preferences.is_unsubscribed is 'Whether the person has unsubscribed from these notifications with a link. Then none are sent, whatever the cadence; false sends them again.';
create index notification_preferences_organization_id_channel_id_index on notification_preferences (organization_id, channel, id) where (deleted_at is null);
create index notification_preferences_organization_id_created_at_id_index on notification_preferences (organization_id, created_at, id) where (deleted_at is null);
create index notification_preferences_organization_id_id_index on notification_preferences (organization_id, id) where (deleted_at is null);
create index notification_preferences_organization_id_topic_pattern_id_index on notification_preferences (organization_id, topic_pattern, id) where (deleted_at is null);
create index notification_preferences_organization_id_updated_at_id_index on notification_preferences (organization_id, updated_at, id) where (deleted_at is null);
create unique index notification_preferences_organization_id_user_id_c_67b0eef6_key on notification_preferences (organization_id, user_id, channel, topic_pattern) where (deleted_at is null);
create index notification_preferences_topic_pattern_beginning on notification_preferences (organization_id, "left"(matched_form(topic_pattern), 100) collate "C") where (deleted_at is null);
create index notification_preferences_user_id_index on notification_preferences (user_id);
alter table notification_preferences enable row level security;
create policy notification_preferences_app on notification_preferences to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy notification_preferences_system on notification_preferences to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table notification_preferences to core_app;
grant select,insert,update on table notification_preferences to core_system;

create table notification_templates (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  topic text not null,
  channel text not null,
  subject_template text not null,
  body_template text not null,
  constraint notification_templates_channel_check check ((channel = 'email'))
);
alter table notification_templates add constraint notification_templates_pkey primary key (id);
comment on table notification_templates is 'Text that an organization uses in its e-mails about an event instead of the text of the product. It is plain text: markup is shown as it is written, and links and addresses are broken up so that mail programs do not link them.';
comment on column notification_templates.topic is 'Event that it is about: a topic of notifications such as task.assigned.';
comment on column notification_templates.channel is 'Channel whose messages it is for.';
comment on column notification_templates.subject_template is 'Subject, with variables as {{name}}: those of the topic.';
comment on column notification_templates.body_template is 'Text above the button, with variables as {{name}}: those of the topic. Each line is a paragraph.';
create index notification_templates_organization_id_channel_id_index on notification_templates (organization_id, channel, id) where (deleted_at is null);
create unique index notification_templates_organization_id_channel_topic_key on notification_templates (organization_id, channel, topic) where (deleted_at is null);
create index notification_templates_organization_id_created_at_id_index on notification_templates (organization_id, created_at, id) where (deleted_at is null);
create index notification_templates_organization_id_id_index on notification_templates (organization_id, id) where (deleted_at is null);
create index notification_templates_organization_id_topic_order on notification_templates (organization_id, topic collate record_order, id) where (deleted_at is null);
create index notification_templates_organization_id_updated_at_id_index on notification_templates (organization_id, updated_at, id) where (deleted_at is null);
create index notification_templates_topic_beginning on notification_templates (organization_id, "left"(matched_form(topic), 100) collate "C") where (deleted_at is null);
alter table notification_templates enable row level security;
create policy notification_templates_app on notification_templates to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy notification_templates_system on notification_templates to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table notification_templates to core_app;
grant select,insert,update on table notification_templates to core_system;

create table notification_sendings (
  notification_id text not null,
  channel text not null,
  organization_id text not null,
  user_id text not null,
  topic text not null,
  is_default boolean not null,
  is_urgent boolean not null,
  state text not null,
  round integer not null,
  due_at timestamptz,
  digest_id text,
  told_at timestamptz not null,
  updated_at timestamptz not null,
  error text,
  request_id text,
  constraint notification_sendings_check check (((due_at is null) = (state <> all (array['due', 'planned'])))),
  constraint notification_sendings_check1 check (((digest_id is null) = (state <> 'collected')))
);
alter table notification_sendings add constraint notification_sendings_pkey primary key (notification_id, channel);
alter table notification_sendings add constraint notification_sendings_state_check check ((state = any (array['due', 'planned', 'sent', 'collected', 'dropped', 'failed']))) not valid;
create index notification_sendings_digest on notification_sendings (digest_id, notification_id) where (digest_id is not null);
create index notification_sendings_due on notification_sendings (due_at, organization_id, user_id, channel) where (state = 'due');
create index notification_sendings_ended on notification_sendings (updated_at) where (state <> 'due');
create index notification_sendings_failed on notification_sendings (told_at) where (state = 'failed');
create index notification_sendings_planned on notification_sendings (channel, organization_id, due_at, notification_id) where (state = 'planned');
create index notification_sendings_person on notification_sendings (organization_id, user_id, channel) where (state = 'due');
create index notification_sendings_waiting on notification_sendings (told_at) where (state = 'due');
grant select,insert,delete,update on table notification_sendings to core_system;

create table notification_digests (
  id text not null,
  organization_id text not null,
  user_id text not null,
  channel text not null,
  cadence text not null,
  period text not null,
  state text not null,
  round integer not null,
  due_at timestamptz,
  updated_at timestamptz not null,
  error text,
  constraint notification_digests_check check (((due_at is null) = (state <> 'claimed')))
);
alter table notification_digests add constraint notification_digests_organization_id_user_id_channel_cadenc_key unique (organization_id, user_id, channel, cadence, period);
alter table notification_digests add constraint notification_digests_pkey primary key (id);
alter table notification_digests add constraint notification_digests_state_check check ((state = any (array['claimed', 'sent', 'empty', 'failed']))) not valid;
create index notification_digests_due on notification_digests (channel, organization_id, due_at, id) where (state = 'claimed');
create index notification_digests_ended on notification_digests (updated_at) where (state <> 'claimed');
grant select,insert,delete,update on table notification_digests to core_system;
