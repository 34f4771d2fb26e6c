insert into installation (id) values (replace(gen_random_uuid()::text, '-', ''));
insert into caller_changes (scope) values (hashtextextended('*', 0));
insert into change_feed default values;
insert into second_database (state) values ('off');
select maintain_partitions(now(), interval '1 day', interval '10 years');
-- Tables of kinds that come later: their rows are never deleted, only marked.
alter default privileges in schema public grant select, insert, update on tables to core_app, core_system;
