create table account_emails (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  key text not null,
  template text not null,
  recipient_id text,
  about_id text,
  about_round integer,
  status text not null,
  attempts integer not null,
  attempted_at timestamptz,
  carrier text,
  message_id text,
  content text,
  error_code text,
  error_message text,
  sent_at timestamptz,
  delivered_at timestamptz,
  bounced_at timestamptz,
  bounce_type text,
  complained_at timestamptz,
  opened_at timestamptz,
  clicked_at timestamptz,
  topics text[] not null,
  constraint account_emails_bounce_type_check check ((bounce_type = any (array['hard', 'soft']))),
  constraint account_emails_carrier_check check ((carrier = any (array['folder', 'providera', 'providerb']))),
  constraint account_emails_status_check check ((status = any (array['pending', 'sending', 'waiting', 'sent', 'delivered', 'bounced', 'complained', 'refused', 'suppressed', 'outdated', 'failed'])))
);
alter table account_emails add constraint account_emails_pkey primary key (id);
comment on table account_emails is 'E-mail about the account of a person, or to an address that has none yet. It is removed after 180 days; one that waits or was given up, after a year.';
comment on column account_emails.key is 'Idempotency key: repeated requests with the same key send one e-mail.';
comment on column account_emails.template is 'Name of the e-mail, for example invite.';
comment on column account_emails.recipient_id is 'Id of the recipient; null for an address without an account, which is in the record that the e-mail is about.';
comment on column account_emails.about_id is 'Id of the record that it is about.';
comment on column account_emails.about_round is 'Number of the link, for a record with links.';
comment on column account_emails.status is 'pending: to be sent; sending: handed to the provider, whose answer is not known; waiting: the provider takes none at the moment (see errorCode); sent: the provider has accepted it; delivered, bounced, complained: what the provider has reported since; refused: the provider does not accept the address; suppressed: the address gets no e-mails; outdated: its content was no longer true; failed: given up.';
comment on column account_emails.attempts is 'Number of attempts to hand it to a provider.';
comment on column account_emails.attempted_at is 'When the last attempt began.';
comment on column account_emails.carrier is 'Carrier of the e-mail: a provider, or in development a folder.';
comment on column account_emails.message_id is 'Id of the e-mail at the provider.';
comment on column account_emails.content is 'The e-mail as it is sent, until it is accepted: a repeated attempt sends the same bytes.';
comment on column account_emails.error_code is 'Code of the reason why it is not sent, for example too_many_requests, credentials_refused, address_refused.';
comment on column account_emails.error_message is 'Answer of the provider.';
comment on column account_emails.sent_at is 'When the provider accepted it.';
comment on column account_emails.delivered_at is 'When the server of the recipient accepted it, as the provider reports.';
comment on column account_emails.bounced_at is 'When the server of the recipient refused it.';
comment on column account_emails.bounce_type is 'hard: the address takes no e-mails; soft: it might later.';
comment on column account_emails.complained_at is 'When the recipient reported it as unwanted.';
comment on column account_emails.opened_at is 'When it was first opened, where that is tracked.';
comment on column account_emails.clicked_at is 'When a link of it was first followed, where that is tracked.';
comment on column account_emails.topics is 'E-mails that its link to unsubscribe ends: topics of notifications such as task.assigned, or a type of e-mail such as invite. Without topics, it ends all e-mails of the organization.';
create unique index account_emails_key_key on account_emails (key) where (deleted_at is null);
alter table account_emails enable row level security;
create policy account_emails_app on account_emails to core_app using (false) with check (false);
create policy account_emails_system on account_emails to core_system using (true) with check (true);
grant select,insert,update on table account_emails to core_app;
grant select,insert,update on table account_emails to core_system;

create table account_email_suppressions (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  email text not null,
  reason text not null,
  email_id text,
  released_at timestamptz,
  release_reason text,
  suppressed_email text,
  constraint account_email_suppressions_reason_check check ((reason = any (array['hard_bounce', 'complaint', 'refused', 'unsubscribed', 'manual'])))
);
alter table account_email_suppressions add constraint account_email_suppressions_pkey primary key (id);
comment on table account_email_suppressions is 'Address to which no e-mails about accounts are sent.';
comment on column account_email_suppressions.email is 'Address that gets no e-mails.';
comment on column account_email_suppressions.reason is 'hard_bounce: its server takes no e-mails for it; complaint: the recipient has reported one as unwanted; refused: the provider does not send to it; unsubscribed: the recipient wants no more; manual: a manager has entered it. The last two do not concern e-mails about security.';
comment on column account_email_suppressions.email_id is 'Id of the e-mail that caused it; null for one that a manager has entered.';
comment on column account_email_suppressions.released_at is 'When it was released; since then, e-mails are sent again.';
comment on column account_email_suppressions.release_reason is 'Reason of the release, as stated by the person who released it.';
comment on column account_email_suppressions.suppressed_email is '`email` until it is released; null afterwards: the address can be suppressed again.';
create unique index account_email_suppressions_suppressed_email_key on account_email_suppressions (suppressed_email) where (deleted_at is null);
alter table account_email_suppressions enable row level security;
create policy account_email_suppressions_app on account_email_suppressions to core_app using (false) with check (false);
create policy account_email_suppressions_system on account_email_suppressions to core_system using (true) with check (true);
grant select,insert,update on table account_email_suppressions to core_app;
grant select,insert,update on table account_email_suppressions to core_system;

create table emails (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  key text not null,
  template text not null,
  recipient_id text,
  about_id text,
  about_round integer,
  status text not null,
  attempts integer not null,
  attempted_at timestamptz,
  carrier text,
  message_id text,
  content text,
  error_code text,
  error_message text,
  sent_at timestamptz,
  delivered_at timestamptz,
  bounced_at timestamptz,
  bounce_type text,
  complained_at timestamptz,
  opened_at timestamptz,
  clicked_at timestamptz,
  resent_at timestamptz,
  topics text[] not null,
  address_hash text,
  constraint emails_bounce_type_check check ((bounce_type = any (array['hard', 'soft']))),
  constraint emails_carrier_check check ((carrier = any (array['folder', 'providera', 'providerb']))),
  constraint emails_status_check check ((status = any (array['pending', 'sending', 'waiting', 'sent', 'delivered', 'bounced', 'complained', 'refused', 'suppressed', 'outdated', 'failed'])))
);
alter table emails add constraint emails_pkey primary key (id);
comment on table emails is 'E-mail that the server sends for the organization. Managers see its status, and can send it again. E-mails about the account of a person are not among them. It is removed after 180 days; one that waits or was given up, and was not sent again, after a year.';
comment on column emails.key is 'Idempotency key: repeated requests with the same key send one e-mail.';
comment on column emails.template is 'Name of the e-mail, for example invite.';
comment on column emails.recipient_id is 'Id of the recipient; null for an address without an account, which is in the record that the e-mail is about.';
comment on column emails.about_id is 'Id of the record that it is about.';
comment on column emails.about_round is 'Number of the link, for a record with links.';
comment on column emails.status is 'pending: to be sent; sending: handed to the provider, whose answer is not known; waiting: the provider takes none at the moment (see errorCode); sent: the provider has accepted it; delivered, bounced, complained: what the provider has reported since; refused: the provider does not accept the address; suppressed: the address gets no e-mails; outdated: its content was no longer true; failed: given up.';
comment on column emails.attempts is 'Number of attempts to hand it to a provider.';
comment on column emails.attempted_at is 'When the last attempt began.';
comment on column emails.carrier is 'Carrier of the e-mail: a provider, or in development a folder.';
comment on column emails.message_id is 'Id of the e-mail at the provider.';
comment on column emails.content is 'The e-mail as it is sent, until it is accepted: a repeated attempt sends the same bytes.';
comment on column emails.error_code is 'Code of the reason why it is not sent, for example too_many_requests, credentials_refused, address_refused.';
comment on column emails.error_message is 'Answer of the provider.';
comment on column emails.sent_at is 'When the provider accepted it.';
comment on column emails.delivered_at is 'When the server of the recipient accepted it, as the provider reports.';
comment on column emails.bounced_at is 'When the server of the recipient refused it.';
comment on column emails.bounce_type is 'hard: the address takes no e-mails; soft: it might later.';
comment on column emails.complained_at is 'When the recipient reported it as unwanted.';
comment on column emails.opened_at is 'When it was first opened, where that is tracked.';
comment on column emails.clicked_at is 'When a link of it was first followed, where that is tracked.';
comment on column emails.resent_at is 'When somebody last asked to send it again, as a further e-mail.';
comment on column emails.topics is 'E-mails that its link to unsubscribe ends: topics of notifications such as task.assigned, or a type of e-mail such as invite. Without topics, it ends all e-mails of the organization.';
comment on column emails.address_hash is 'Keyed hash of the address to which it went: the link to unsubscribe names the address while it is still that of the recipient.';
create index emails_about_id_beginning on emails (organization_id, "left"(matched_form(about_id), 100) collate "C") where (deleted_at is null);
create index emails_error_code_beginning on emails (organization_id, "left"(matched_form(error_code), 100) collate "C") where (deleted_at is null);
create index emails_organization_id_about_id_id_index on emails (organization_id, about_id, id) where (deleted_at is null);
create index emails_organization_id_carrier_id_index on emails (organization_id, carrier, id) where (deleted_at is null);
create index emails_organization_id_created_at_id_index on emails (organization_id, created_at, id) where (deleted_at is null);
create index emails_organization_id_error_code_id_index on emails (organization_id, error_code, id) where (deleted_at is null);
create index emails_organization_id_id_index on emails (organization_id, id) where (deleted_at is null);
create unique index emails_organization_id_key_key on emails (organization_id, key) where (deleted_at is null);
create index emails_organization_id_recipient_id_id_index on emails (organization_id, recipient_id, id) where (deleted_at is null);
create index emails_organization_id_sent_at_descending on emails (organization_id, sent_at desc nulls last, id desc) where (deleted_at is null);
create index emails_organization_id_sent_at_id_index on emails (organization_id, sent_at, id) where (deleted_at is null);
create index emails_organization_id_status_id_index on emails (organization_id, status, id) where (deleted_at is null);
create index emails_organization_id_template_id_index on emails (organization_id, template, id) where (deleted_at is null);
create index emails_organization_id_updated_at_id_index on emails (organization_id, updated_at, id) where (deleted_at is null);
create index emails_recipient_id_beginning on emails (organization_id, "left"(matched_form(recipient_id), 100) collate "C") where (deleted_at is null);
create index emails_template_beginning on emails (organization_id, "left"(matched_form(template), 100) collate "C") where (deleted_at is null);
alter table emails enable row level security;
create policy emails_app on emails to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy emails_system on emails to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table emails to core_app;
grant select,insert,update on table emails to core_system;

create table email_suppressions (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  email text not null,
  reason text not null,
  email_id text,
  released_at timestamptz,
  release_reason text,
  suppressed_email text,
  topic text not null,
  constraint email_suppressions_reason_check check ((reason = any (array['hard_bounce', 'complaint', 'refused', 'unsubscribed', 'manual'])))
);
alter table email_suppressions add constraint email_suppressions_pkey primary key (id);
comment on table email_suppressions is 'Address to which no e-mails of the organization are sent. Managers see why, enter addresses, and release them with a reason.';
comment on column email_suppressions.email is 'Address that gets no e-mails.';
comment on column email_suppressions.reason is 'hard_bounce: its server takes no e-mails for it; complaint: the recipient has reported one as unwanted; refused: the provider does not send to it; unsubscribed: the recipient wants no more; manual: a manager has entered it. The last two do not concern e-mails about security.';
comment on column email_suppressions.email_id is 'Id of the e-mail that caused it; null for one that a manager has entered.';
comment on column email_suppressions.released_at is 'When it was released; since then, e-mails are sent again.';
comment on column email_suppressions.release_reason is 'Reason of the release, as stated by the person who released it.';
comment on column email_suppressions.suppressed_email is '`email` until it is released; null afterwards: the address can be suppressed again.';
comment on column email_suppressions.topic is 'E-mails that are not sent: one sort, for example invite, or * for all of the organization.';
create index email_suppressions_email_beginning on email_suppressions (organization_id, "left"(matched_form(email), 100) collate "C") where (deleted_at is null);
create index email_suppressions_organization_id_created_at_id_index on email_suppressions (organization_id, created_at, id) where (deleted_at is null);
create index email_suppressions_organization_id_email_order on email_suppressions (organization_id, email collate record_order, id) where (deleted_at is null);
create index email_suppressions_organization_id_id_index on email_suppressions (organization_id, id) where (deleted_at is null);
create index email_suppressions_organization_id_reason_id_index on email_suppressions (organization_id, reason, id) where (deleted_at is null);
create index email_suppressions_organization_id_released_at_id_index on email_suppressions (organization_id, released_at, id) where (deleted_at is null);
create unique index email_suppressions_organization_id_suppressed_email_topic_key on email_suppressions (organization_id, suppressed_email, topic) where (deleted_at is null);
create index email_suppressions_organization_id_topic_id_index on email_suppressions (organization_id, topic, id) where (deleted_at is null);
create index email_suppressions_organization_id_updated_at_id_index on email_suppressions (organization_id, updated_at, id) where (deleted_at is null);
create index email_suppressions_topic_beginning on email_suppressions (organization_id, "left"(matched_form(topic), 100) collate "C") where (deleted_at is null);
alter table email_suppressions enable row level security;
create policy email_suppressions_app on email_suppressions to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy email_suppressions_system on email_suppressions to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table email_suppressions to core_app;
grant select,insert,update on table email_suppressions to core_system;
