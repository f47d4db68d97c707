PRAGMA application_id=1148543851;
PRAGMA user_version=3;
BEGIN TRANSACTION;
CREATE TABLE approval (
        requested_seq INTEGER PRIMARY KEY NOT NULL,
        approval_id VARCHAR NOT NULL,
        outcome VARCHAR,
        body VARCHAR NOT NULL
    );
INSERT INTO "approval" VALUES(11,'approval-1','allowed','{"approval_id":"approval-1","task_id":"task-1","call_id":"call-3","conversation_id":"conversation-1","tool":"shell_exec","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","card":"content-card","reasons":["every command asks"],"always_allowed":true,"created_ms":1750000002750,"expires_ms":1750086400000,"requested_seq":11,"outcome":"allowed","decided_by":"local:owner","reason":null,"grant_id":null,"folder":"","places":[]}');
INSERT INTO "approval" VALUES(28,'approval-2',NULL,'{"approval_id":"approval-2","task_id":"task-2","call_id":"call-4","conversation_id":"conversation-1","tool":"shell_exec","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","card":"content-card-2","reasons":["every command asks"],"always_allowed":true,"created_ms":1750000007000,"expires_ms":1750086400000,"requested_seq":28,"outcome":null,"decided_by":null,"reason":null,"grant_id":null,"folder":"","places":[]}');
CREATE TABLE artifact_taint (
        artifact_id VARCHAR PRIMARY KEY NOT NULL,
        taint VARCHAR NOT NULL
    );
INSERT INTO "artifact_taint" VALUES('efefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefef','[{"kind":"web","source_id":"https://example.org/ü"}]');
CREATE TABLE checkpoint (
        head_seq INTEGER PRIMARY KEY NOT NULL,
        version INTEGER NOT NULL,
        body VARCHAR NOT NULL
    );
INSERT INTO "checkpoint" VALUES(23,2,'{"version":2,"head_seq":23,"tasks":[],"approvals":[],"queued":[],"ready":[],"grants":[],"modes":[],"projects":[]}');
CREATE TABLE client_key (
        credential VARCHAR NOT NULL,
        client_key VARCHAR NOT NULL,
        body_hash VARCHAR NOT NULL,
        reply VARCHAR NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (credential, client_key)
    );
INSERT INTO "client_key" VALUES('local','key-1','9999999999999999999999999999999999999999999999999999999999999999','{"kind":"submitted","task_id":"task-3","conversation_id":"conversation-1","seq":30}',1750000000000);
CREATE TABLE content (
        content_id VARCHAR PRIMARY KEY NOT NULL,
        owner VARCHAR NOT NULL,
        text VARCHAR
    , taint VARCHAR);
INSERT INTO "content" VALUES('content-title','conversation-1','title: äß 漢 🦆
',NULL);
INSERT INTO "content" VALUES('content-first','conversation-1','first: äß 漢 🦆
',NULL);
INSERT INTO "content" VALUES('content-card','conversation-1','card: äß 漢 🦆
',NULL);
INSERT INTO "content" VALUES('content-answer','conversation-1','answer: äß 漢 🦆
',NULL);
INSERT INTO "content" VALUES('content-card-2','conversation-1','card-2: äß 漢 🦆
',NULL);
INSERT INTO "content" VALUES('content-third','conversation-1','third: äß 漢 🦆
',NULL);
INSERT INTO "content" VALUES('content-fourth','conversation-1','4','[{"kind":"web","source_id":"https://example.org/ü"}]');
CREATE TABLE conversation (
        created_seq INTEGER PRIMARY KEY NOT NULL,
        conversation_id VARCHAR NOT NULL,
        body VARCHAR NOT NULL
    );
INSERT INTO "conversation" VALUES(1,'conversation-1','{"conversation_id":"conversation-1","principal":"local:owner","title":"content-new-title","created_ms":1750000000250,"updated_ms":1750000009250,"created_seq":1,"mode":"yolo"}');
CREATE TABLE event (
        seq INTEGER PRIMARY KEY NOT NULL,
        at_ms INTEGER NOT NULL,
        task_id VARCHAR,
        conversation_id VARCHAR NOT NULL,
        correlation_id VARCHAR NOT NULL,
        type VARCHAR NOT NULL,
        version INTEGER NOT NULL,
        body VARCHAR NOT NULL,
        task_seq INTEGER,
        conversation_seq INTEGER NOT NULL
    );
INSERT INTO "event" VALUES(1,1750000000250,NULL,'conversation-1','correlation-1','conversation_created',1,'{"type":"conversation_created","conversation_id":"conversation-1","principal":"local:owner","title":"content-title","mode":"build"}',NULL,1);
INSERT INTO "event" VALUES(2,1750000000500,NULL,'conversation-1','correlation-1','conversation_updated',1,'{"type":"conversation_updated","conversation_id":"conversation-1","title":"content-new-title","mode":null}',NULL,1);
INSERT INTO "event" VALUES(3,1750000000750,'task-1','conversation-1','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-1","conversation_id":"conversation-1","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true},"text":"content-first","attachments":["abababababababababababababababababababababababababababababababab"]}',3,1);
INSERT INTO "event" VALUES(4,1750000001000,'task-1','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-1","previous":"queued","state":"running","reason":""}',3,1);
INSERT INTO "event" VALUES(5,1750000001250,'task-1','conversation-1','correlation-1','model_call_started',1,'{"type":"model_call_started","task_id":"task-1","call_id":"call-1","role":"thinker","attempt":1,"replaces":null}',3,1);
INSERT INTO "event" VALUES(6,1750000001500,'task-1','conversation-1','correlation-1','model_call_failed',1,'{"type":"model_call_failed","task_id":"task-1","call_id":"call-1","fault":"died","message":"The model''s process ended by signal 9.","text":"content-half"}',3,1);
INSERT INTO "event" VALUES(7,1750000001750,'task-1','conversation-1','correlation-1','model_call_started',1,'{"type":"model_call_started","task_id":"task-1","call_id":"call-2","role":"thinker","attempt":2,"replaces":"call-1"}',3,1);
INSERT INTO "event" VALUES(8,1750000002000,'task-1','conversation-1','correlation-1','model_call_finished',1,'{"type":"model_call_finished","task_id":"task-1","call_id":"call-2","text":"content-directive","finish_reason":"stop","slot":"main","usage":{"prompt_tokens":90,"reused_tokens":40,"completion_tokens":12,"queued_ms":1,"prefill_ms":20,"decode_ms":110},"script_line":3}',3,1);
INSERT INTO "event" VALUES(9,1750000002250,'task-1','conversation-1','correlation-1','tool_call_proposed',1,'{"type":"tool_call_proposed","task_id":"task-1","call_id":"call-3","tool":"shell_exec","arguments":"content-arguments","direct":true,"repeats":null}',3,1);
INSERT INTO "event" VALUES(10,1750000002500,'task-1','conversation-1','correlation-1','tool_call_inspected',1,'{"type":"tool_call_inspected","task_id":"task-1","call_id":"call-3","effect":"unsafe","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","verdict":"ask","reasons":["every command asks"]}',3,1);
INSERT INTO "event" VALUES(11,1750000002750,'task-1','conversation-1','correlation-1','approval_requested',1,'{"type":"approval_requested","task_id":"task-1","approval_id":"approval-1","call_id":"call-3","tool":"shell_exec","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","card":"content-card","reasons":["every command asks"],"always_allowed":true,"expires_ms":1750086400000,"key":"","folder":"","approvers":[],"places":[]}',3,1);
INSERT INTO "event" VALUES(12,1750000003000,'task-1','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-1","previous":"running","state":"awaiting_approval","reason":"shell_exec asks"}',3,1);
INSERT INTO "event" VALUES(13,1750000003250,'task-1','conversation-1','correlation-1','approval_resolved',1,'{"type":"approval_resolved","task_id":"task-1","approval_id":"approval-1","call_id":"call-3","outcome":"allowed","decided_by":"local:owner","reason":null,"grant_id":null}',3,1);
INSERT INTO "event" VALUES(14,1750000003500,'task-1','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-1","previous":"awaiting_approval","state":"running","reason":""}',3,1);
INSERT INTO "event" VALUES(15,1750000003750,'task-1','conversation-1','correlation-1','tool_call_started',1,'{"type":"tool_call_started","task_id":"task-1","call_id":"call-3","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","effect":"unsafe","attempt":1,"intent":"touch x","approval_id":"approval-1","grant_id":null,"basis":null}',3,1);
INSERT INTO "event" VALUES(16,1750000004000,'task-1','conversation-1','correlation-1','task_recovered',1,'{"type":"task_recovered","task_id":"task-1","count":1}',3,1);
INSERT INTO "event" VALUES(17,1750000004250,'task-1','conversation-1','correlation-1','tool_call_ended',1,'{"type":"tool_call_ended","task_id":"task-1","call_id":"call-3","outcome":"outcome_unknown","result":null,"exit_code":null,"artifact":null,"duration_ms":0}',3,1);
INSERT INTO "event" VALUES(18,1750000004500,'task-1','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-1","previous":"running","state":"awaiting_decision","reason":"nobody saw its end"}',3,1);
INSERT INTO "event" VALUES(19,1750000004750,'task-1','conversation-1','correlation-1','task_decided',1,'{"type":"task_decided","task_id":"task-1","decision":"mark_done","principal":"local:owner","call_id":"call-3"}',3,1);
INSERT INTO "event" VALUES(20,1750000005000,'task-1','conversation-1','correlation-1','tool_call_ended',1,'{"type":"tool_call_ended","task_id":"task-1","call_id":"call-3","outcome":"marked_done","result":"content-result","exit_code":0,"artifact":"efefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefef","duration_ms":1234}',3,1);
INSERT INTO "event" VALUES(21,1750000005250,'task-1','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-1","previous":"awaiting_decision","state":"running","reason":""}',3,1);
INSERT INTO "event" VALUES(22,1750000005500,'task-1','conversation-1','correlation-1','answer_given',1,'{"type":"answer_given","task_id":"task-1","text":"content-answer"}',3,1);
INSERT INTO "event" VALUES(23,1750000005750,'task-1','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-1","previous":"running","state":"completed","reason":""}',3,1);
INSERT INTO "event" VALUES(24,1750000006000,'task-2','conversation-1','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-2","conversation_id":"conversation-1","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true},"text":"content-second","attachments":["abababababababababababababababababababababababababababababababab"]}',24,1);
INSERT INTO "event" VALUES(25,1750000006250,'task-2','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-2","previous":"queued","state":"running","reason":""}',24,1);
INSERT INTO "event" VALUES(26,1750000006500,'task-2','conversation-1','correlation-1','tool_call_proposed',1,'{"type":"tool_call_proposed","task_id":"task-2","call_id":"call-4","tool":"shell_exec","arguments":"content-arguments-2","direct":false,"repeats":null}',24,1);
INSERT INTO "event" VALUES(27,1750000006750,'task-2','conversation-1','correlation-1','tool_call_inspected',1,'{"type":"tool_call_inspected","task_id":"task-2","call_id":"call-4","effect":"unsafe","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","verdict":"ask","reasons":["every command asks"]}',24,1);
INSERT INTO "event" VALUES(28,1750000007000,'task-2','conversation-1','correlation-1','approval_requested',1,'{"type":"approval_requested","task_id":"task-2","approval_id":"approval-2","call_id":"call-4","tool":"shell_exec","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","card":"content-card-2","reasons":["every command asks"],"always_allowed":true,"expires_ms":1750086400000,"key":"","folder":"","approvers":[],"places":[]}',24,1);
INSERT INTO "event" VALUES(29,1750000007250,'task-2','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-2","previous":"running","state":"awaiting_approval","reason":"shell_exec asks"}',24,1);
INSERT INTO "event" VALUES(30,1750000007500,'task-3','conversation-1','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-3","conversation_id":"conversation-1","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true},"text":"content-third","attachments":["abababababababababababababababababababababababababababababababab"]}',30,1);
INSERT INTO "event" VALUES(31,1750000007750,NULL,'conversation-1','correlation-1','conversation_updated',1,'{"type":"conversation_updated","conversation_id":"conversation-1","title":null,"mode":"yolo"}',NULL,1);
INSERT INTO "event" VALUES(32,1750000008000,NULL,'conversation-1','correlation-1','grant_created',1,'{"type":"grant_created","grant_id":"grant-1","key":"1111111111111111111111111111111111111111111111111111111111111111","tool":"shell_exec","principal":"telegram:bot:42","folder":"/project","card":"content-card","granted_by":"local:owner","expires_ms":1750086400000,"uses":2}',NULL,1);
INSERT INTO "event" VALUES(33,1750000008250,NULL,'conversation-1','correlation-1','grant_created',1,'{"type":"grant_created","grant_id":"grant-2","key":"2222222222222222222222222222222222222222222222222222222222222222","tool":"shell_exec","principal":"telegram:bot:42","folder":"/project","card":"content-card","granted_by":"local:owner","expires_ms":1750086400000,"uses":2}',NULL,1);
INSERT INTO "event" VALUES(34,1750000008500,NULL,'conversation-1','correlation-1','grant_revoked',1,'{"type":"grant_revoked","grant_id":"grant-2","principal":"local:owner"}',NULL,1);
INSERT INTO "event" VALUES(35,1750000008750,NULL,'conversation-1','correlation-1','project_tainted',1,'{"type":"project_tainted","folder":"/old","sources":[{"kind":"web","source_id":"https://example.org/ü"}]}',NULL,1);
INSERT INTO "event" VALUES(36,1750000009000,NULL,'conversation-1','correlation-1','project_trusted',1,'{"type":"project_trusted","folder":"/old","principal":"local:owner"}',NULL,1);
INSERT INTO "event" VALUES(37,1750000009250,'task-4','conversation-1','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-4","conversation_id":"conversation-1","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true},"text":"content-fourth","attachments":["abababababababababababababababababababababababababababababababab"]}',37,1);
INSERT INTO "event" VALUES(38,1750000009500,'task-4','conversation-1','correlation-1','task_tainted',1,'{"type":"task_tainted","task_id":"task-4","sources":[{"kind":"web","source_id":"https://example.org/ü"},{"kind":"forwarded","source_id":"12"}]}',37,1);
INSERT INTO "event" VALUES(39,1750000009750,'task-4','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-4","previous":"queued","state":"running","reason":""}',37,1);
INSERT INTO "event" VALUES(40,1750000010000,'task-4','conversation-1','correlation-1','tool_call_proposed',1,'{"type":"tool_call_proposed","task_id":"task-4","call_id":"call-5","tool":"shell_exec","arguments":"content-arguments-3","direct":false,"repeats":null}',37,1);
INSERT INTO "event" VALUES(41,1750000010250,'task-4','conversation-1','correlation-1','tool_call_inspected',1,'{"type":"tool_call_inspected","task_id":"task-4","call_id":"call-5","effect":"unsafe","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","verdict":"ask","reasons":["every command asks"]}',37,1);
INSERT INTO "event" VALUES(42,1750000010500,NULL,'conversation-1','correlation-1','project_tainted',1,'{"type":"project_tainted","folder":"/project","sources":[{"kind":"web","source_id":"https://example.org/ü"},{"kind":"forwarded","source_id":"12"}]}',NULL,1);
INSERT INTO "event" VALUES(43,1750000010750,'task-4','conversation-1','correlation-1','secret_requested',1,'{"type":"secret_requested","task_id":"task-4","call_id":"call-5","what":"the password for sudo","expires_ms":1750000600000}',37,1);
INSERT INTO "event" VALUES(44,1750000011000,'task-4','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-4","previous":"running","state":"awaiting_secret","reason":""}',37,1);
INSERT INTO "event" VALUES(45,1750000011250,'task-4','conversation-1','correlation-1','secret_provided',1,'{"type":"secret_provided","task_id":"task-4","call_id":"call-5","principal":"telegram:bot:42"}',37,1);
INSERT INTO "event" VALUES(46,1750000011500,'task-4','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-4","previous":"awaiting_secret","state":"running","reason":""}',37,1);
INSERT INTO "event" VALUES(47,1750000011750,'task-4','conversation-1','correlation-1','tool_call_started',1,'{"type":"tool_call_started","task_id":"task-4","call_id":"call-5","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","effect":"unsafe","attempt":1,"intent":"","approval_id":null,"grant_id":"grant-1","basis":"grant"}',37,1);
CREATE TABLE projection (
        version INTEGER PRIMARY KEY NOT NULL,
        seq INTEGER NOT NULL,
        tasks INTEGER NOT NULL,
        approvals INTEGER NOT NULL,
        conversations INTEGER NOT NULL
    );
INSERT INTO "projection" VALUES(2,47,4,2,1);
CREATE TABLE run (run_id INTEGER PRIMARY KEY NOT NULL, drained INTEGER NOT NULL);
INSERT INTO "run" VALUES(1,1);
CREATE TABLE task (
        submitted_seq INTEGER PRIMARY KEY NOT NULL,
        task_id VARCHAR NOT NULL,
        conversation_seq INTEGER NOT NULL,
        state VARCHAR NOT NULL,
        answered INTEGER NOT NULL,
        body VARCHAR NOT NULL,
        open_calls VARCHAR
    );
INSERT INTO "task" VALUES(3,'task-1',1,'completed',1,'{"task_id":"task-1","conversation_id":"conversation-1","principal":"telegram:bot:42","state":"completed","reason":"","text":"content-first","answer":"content-answer","created_ms":1750000000750,"updated_ms":1750000005750,"submitted_seq":3,"pending_approvals":[],"unknown_calls":[],"taint":[],"secret":""}',NULL);
INSERT INTO "task" VALUES(24,'task-2',1,'awaiting_approval',0,'{"task_id":"task-2","conversation_id":"conversation-1","principal":"telegram:bot:42","state":"awaiting_approval","reason":"shell_exec asks","text":"content-second","answer":null,"created_ms":1750000006000,"updated_ms":1750000007250,"submitted_seq":24,"pending_approvals":["approval-2"],"unknown_calls":[],"taint":[],"secret":""}','[{"call_id":"call-4","tool":"shell_exec","arguments":"content-arguments-2"}]');
INSERT INTO "task" VALUES(30,'task-3',1,'queued',0,'{"task_id":"task-3","conversation_id":"conversation-1","principal":"telegram:bot:42","state":"queued","reason":"","text":"content-third","answer":null,"created_ms":1750000007500,"updated_ms":1750000007500,"submitted_seq":30,"pending_approvals":[],"unknown_calls":[],"taint":[],"secret":""}',NULL);
INSERT INTO "task" VALUES(37,'task-4',1,'running',0,'{"task_id":"task-4","conversation_id":"conversation-1","principal":"telegram:bot:42","state":"running","reason":"","text":"content-fourth","answer":null,"created_ms":1750000009250,"updated_ms":1750000011500,"submitted_seq":37,"pending_approvals":[],"unknown_calls":[],"taint":[{"kind":"forwarded","source_id":"12"},{"kind":"web","source_id":"https://example.org/ü"}],"secret":""}','[{"call_id":"call-5","tool":"shell_exec","arguments":"content-arguments-3"}]');
CREATE TABLE token (
        created_seq INTEGER PRIMARY KEY NOT NULL,
        token_id VARCHAR NOT NULL,
        name VARCHAR NOT NULL,
        digest VARCHAR NOT NULL,
        principal VARCHAR NOT NULL,
        scopes VARCHAR NOT NULL,
        created_ms INTEGER NOT NULL,
        revoked_ms INTEGER
    );
INSERT INTO "token" VALUES(1,'token-1','script','1111111111111111111111111111111111111111111111111111111111111111','token:script','run',1750000000000,1750000000007);
INSERT INTO "token" VALUES(2,'token-2','script','2222222222222222222222222222222222222222222222222222222222222222','token:script','run',1750000000000,NULL);
INSERT INTO "token" VALUES(3,'token-3','telegram','3333333333333333333333333333333333333333333333333333333333333333','telegram:bot:bot','approve channel read run',1750000000008,NULL);
CREATE INDEX event_by_task ON event (task_seq);
CREATE INDEX event_by_conversation ON event (conversation_seq);
CREATE UNIQUE INDEX task_by_id ON task (task_id);
CREATE INDEX task_by_conversation ON task (conversation_seq, submitted_seq);
CREATE INDEX task_by_state ON task (state, submitted_seq);
CREATE UNIQUE INDEX approval_by_id ON approval (approval_id);
CREATE INDEX approval_by_outcome ON approval (outcome, requested_seq);
CREATE UNIQUE INDEX conversation_by_id ON conversation (conversation_id);
CREATE UNIQUE INDEX token_by_id ON token (token_id);
CREATE UNIQUE INDEX token_by_digest ON token (digest);
CREATE UNIQUE INDEX token_by_live_name ON token (name) WHERE revoked_ms IS NULL;
COMMIT;
