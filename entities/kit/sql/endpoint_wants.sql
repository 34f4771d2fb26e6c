-- Decides whether an endpoint receives an event by topics and scopes, for write_changes and withheld-message-rows.ts.
-- topics: patterns such as `task.created`, `task.*` or `*`. scopes: one of `<kind>:read`, `:write` or `:delete` is
-- enough. topic and entity_kind are those of the event.
-- It is asked when the event is written and again at each attempt: a message that is no longer wanted ends as
-- `withheld`.
-- One expression without `set`, so that PostgreSQL inlines it.
create or replace function endpoint_wants(topics text[], scopes text[], topic text, entity_kind text)
returns boolean
language sql
immutable parallel safe
RETURN ((topics && ARRAY[topic, (entity_kind || '.*'::text), '*'::text]) AND (scopes && ARRAY[(entity_kind || ':read'::text), (entity_kind || ':write'::text), (entity_kind || ':delete'::text)]))
;
revoke all on function endpoint_wants(text[],text[],text,text) from public;
grant execute on function endpoint_wants(text[],text[],text,text) to core_app, core_system;
