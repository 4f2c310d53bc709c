-- What is kept beside measurements, on every machine and so growing with them.

-- Of the releases of six workloads: 120 values of a histogram, and a minute of seconds.
WITH sampled AS (
    SELECT run.id, run.threads FROM results_run run JOIN results_workload workload ON workload.id = run.workload_id
    WHERE run.branch = '' AND workload.name < 'workload-06'
)
INSERT INTO results_intervalsamples (run_id, source, columns, rows)
SELECT id, 'histogram', ARRAY['latency_ms', 'count'], (
    SELECT array_agg(
        ARRAY[
            round(exp(at / 12.0), 3)::float8,
            1 + floor(5000 * exp(-((at - 50) / 15.0) ^ 2) * (1 + (id * at % 17) / 100.0))
        ] ORDER BY at
    )
    FROM generate_series(1, 120) at
)
FROM sampled
UNION ALL
SELECT id, 'sysbench', ARRAY['time_s', 'threads', 'tps', 'qps', 'latency_p95'], (
    SELECT array_agg(
        ARRAY[at, threads, 1000 + id * at % 97, 20000 + id * at % 1931, 5 + (id * at % 53) / 10.0]::float8[]
        ORDER BY at
    )
    FROM generate_series(1, 60) at
)
FROM sampled;

-- zlib leaves 6 of the 27 bytes of a reading of night.json; these cannot be packed further.
UPDATE ingest_rawfile raw SET size = 27 * measured.readings, content = (
    SELECT string_agg(sha256(convert_to(raw.id || ' ' || at, 'UTF8')), '')
    FROM generate_series(0, 6 * measured.readings / 32) at
)
FROM ingest_upload upload JOIN (
    SELECT run.upload_id, count(*) AS readings
    FROM results_measurement reading JOIN results_run run ON run.id = reading.run_id GROUP BY 1
) measured ON measured.upload_id = upload.id
WHERE upload.raw_id = raw.id AND raw.size = 0;

INSERT INTO alerts_alert (project_id, incident_id, address, subject, owed_at, sent_at, attempts, error)
SELECT project_id, id, name || '@example.org', '', detected_at, detected_at, 1, ''
FROM regressions_incident CROSS JOIN (VALUES ('alice'), ('bob'), ('carol')) person (name);

INSERT INTO accounts_auditentry (project_id, at, action, subject, reason, detail)
SELECT project_id, detected_at, 'incident ' || action, 'regression ' || id, 'seen', '{"state": "acknowledged"}'
FROM regressions_incident CROSS JOIN (VALUES ('triaged'), ('commented'), ('assigned')) done (action);

INSERT INTO regressions_incidentevent (incident_id, at, what, by_name, state, reason, detail, quiet)
SELECT id, detected_at, what, '', '', '', '{}', false
FROM regressions_incident CROSS JOIN (VALUES ('detected'), ('confirmed'), ('state')) happened (what);

INSERT INTO alerts_subscription (
    project_id, address, branch, key, created_at, workload_group, metric, kinds, rhythm, hour, weekday, time_zone,
    all_quiet, payload, encrypted_secret, refusal, refusals
)
SELECT
    id, who || at || '@example.org', '', md5(id || who || at), now(), '', '', '{regression}', 'immediately', 8, 0, '',
    false, 'json', '', '', 0
FROM accounts_project CROSS JOIN (VALUES ('alice'), ('bob'), ('carol')) person (who), generate_series(1, 8) at;
