-- Returns the LIKE pattern of texts that contain a text, in its matched form, for the search functions of kinds.
-- wanted: the text as typed; backslash, % and _ in it are escaped. The compared text must be in its matched form as
-- well.
-- Strict: null for null, on which search_ending relies.
create or replace function search_pattern(wanted text)
returns text
language sql
immutable parallel safe strict
set search_path to 'public', 'pg_temp'
as $$
select '%' || replace(replace(replace(matched_form(wanted), '\', '\\'), '%', '\%'), '_', '\_') || '%'
$$;
