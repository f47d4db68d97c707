PRAGMA application_id=1148543851;
PRAGMA user_version=6;
BEGIN TRANSACTION;
CREATE TABLE approval (
        requested_seq INTEGER PRIMARY KEY NOT NULL,
        approval_id VARCHAR NOT NULL,
        outcome VARCHAR,
        body VARCHAR NOT NULL
    , conversation_seq INTEGER NOT NULL DEFAULT 0);
INSERT INTO "approval" VALUES(11,'approval-1','allowed','{"approval_id":"approval-1","task_id":"task-1","call_id":"call-3","conversation_id":"conversation-1","tool":"shell_exec","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","card":"content-card","reasons":["every command asks"],"always_allowed":true,"created_ms":1750000002750,"expires_ms":1750086400000,"requested_seq":11,"outcome":"allowed","decided_by":"local:owner","reason":null,"grant_id":null,"folder":"","places":[]}',1);
INSERT INTO "approval" VALUES(28,'approval-2',NULL,'{"approval_id":"approval-2","task_id":"task-2","call_id":"call-4","conversation_id":"conversation-1","tool":"shell_exec","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","card":"content-card-2","reasons":["every command asks"],"always_allowed":true,"created_ms":1750000007000,"expires_ms":1750086400000,"requested_seq":28,"outcome":null,"decided_by":null,"reason":null,"grant_id":null,"folder":"","places":[]}',1);
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
INSERT INTO "checkpoint" VALUES(51,4,'{"version":4,"head_seq":51,"tasks":[{"task_id":"task-2","conversation_id":"conversation-1","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true,"speaker":""},"text":"content-second","correlation_id":"correlation-1","state":"awaiting_approval","submitted_ms":1750000006000,"submitted_seq":24,"attachments":["abababababababababababababababababababababababababababababababab"],"reason":"shell_exec asks","running_since_ms":1750000006250,"active_ms":1000,"recoveries":0,"kind":"answer","skill":"","profile":"","rounds":0,"asked":0,"ready":false,"model_call":null,"failed_call":null,"model_faults":0,"shrinks":0,"calls":[{"call_id":"call-4","tool":"shell_exec","arguments":"content-arguments-2","direct":false,"status":"awaiting_approval","effect":"unsafe","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","basis":null,"grant_id":null,"intent":"","attempt":0,"started_ms":0,"approval_id":"approval-2","outcome":null,"result":null,"settled":false,"fingerprint":"","step_id":null,"words":null}],"script_lines":[],"answer":null,"said":[],"draft":null,"refusals":0,"cuts":0,"summarized":false,"plan":[],"reviewed":false,"plan_left":false,"urls":[],"files":[],"steered":[],"told":0,"heard":0,"taint":[],"denied":[],"secret_call":null,"secret_expires_ms":0},{"task_id":"task-3","conversation_id":"conversation-1","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true,"speaker":""},"text":"content-third","correlation_id":"correlation-1","state":"queued","submitted_ms":1750000007500,"submitted_seq":30,"attachments":["abababababababababababababababababababababababababababababababab"],"reason":"","running_since_ms":0,"active_ms":0,"recoveries":0,"kind":"answer","skill":"","profile":"","rounds":0,"asked":0,"ready":false,"model_call":null,"failed_call":null,"model_faults":0,"shrinks":0,"calls":[],"script_lines":[],"answer":null,"said":[],"draft":null,"refusals":0,"cuts":0,"summarized":false,"plan":[],"reviewed":false,"plan_left":false,"urls":[],"files":[],"steered":[],"told":0,"heard":0,"taint":[],"denied":[],"secret_call":null,"secret_expires_ms":0},{"task_id":"task-4","conversation_id":"conversation-1","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true,"speaker":""},"text":"content-fourth","correlation_id":"correlation-1","state":"running","submitted_ms":1750000009250,"submitted_seq":37,"attachments":["abababababababababababababababababababababababababababababababab"],"reason":"","running_since_ms":1750000011500,"active_ms":1250,"recoveries":0,"kind":"answer","skill":"","profile":"","rounds":0,"asked":0,"ready":false,"model_call":null,"failed_call":null,"model_faults":0,"shrinks":0,"calls":[{"call_id":"call-5","tool":"shell_exec","arguments":"content-arguments-3","direct":false,"status":"started","effect":"unsafe","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","basis":"grant","grant_id":"grant-1","intent":"","attempt":1,"started_ms":1750000011750,"approval_id":null,"outcome":null,"result":null,"settled":false,"fingerprint":"","step_id":null,"words":null}],"script_lines":[],"answer":null,"said":[],"draft":null,"refusals":0,"cuts":0,"summarized":false,"plan":[],"reviewed":false,"plan_left":false,"urls":[],"files":[],"steered":[],"told":0,"heard":0,"taint":[{"kind":"forwarded","source_id":"12"},{"kind":"web","source_id":"https://example.org/ü"}],"denied":[],"secret_call":null,"secret_expires_ms":1750000600000},{"task_id":"task-5","conversation_id":"conversation-2","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true,"speaker":""},"text":"content-fifth","correlation_id":"correlation-1","state":"running","submitted_ms":1750000012250,"submitted_seq":49,"attachments":["abababababababababababababababababababababababababababababababab"],"reason":"","running_since_ms":1750000012500,"active_ms":0,"recoveries":0,"kind":"answer","skill":"tests","profile":"","rounds":0,"asked":0,"ready":false,"model_call":null,"failed_call":null,"model_faults":0,"shrinks":0,"calls":[],"script_lines":[],"answer":null,"said":[{"kind":"note","words":null,"content":null,"result":null,"name":"It is noon."},{"kind":"skill","words":null,"content":null,"result":null,"name":"tests"}],"draft":null,"refusals":0,"cuts":0,"summarized":false,"plan":[],"reviewed":false,"plan_left":false,"urls":[],"files":[],"steered":[],"told":0,"heard":0,"taint":[],"denied":[],"secret_call":null,"secret_expires_ms":0}],"approvals":[{"approval_id":"approval-2","task_id":"task-2","call_id":"call-4","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","expires_ms":1750086400000,"always_allowed":true,"tool":"shell_exec","card":"content-card-2","key":"","folder":"","approvers":[],"places":[],"outcome":null,"decided_by":null,"grant_id":null}],"queued":["task-3"],"ready":[],"grants":[{"grant_id":"grant-1","conversation_id":"conversation-1","key":"1111111111111111111111111111111111111111111111111111111111111111","tool":"shell_exec","principal":"telegram:bot:42","folder":"/project","card":"content-card","granted_by":"local:owner","created_ms":1750000008000,"expires_ms":1750086400000,"uses_left":1}],"settings":[["conversation-1",{"mode":"yolo","folder":"","profile":"","steers":false}],["conversation-2",{"mode":"build","folder":"/project","profile":"careful","steers":true}]],"projects":[{"folder":"/project","conversation_id":"conversation-1","taint":[{"kind":"forwarded","source_id":"12"},{"kind":"web","source_id":"https://example.org/ü"}]}],"reverts":[],"places":[],"people":[],"unreachable":[]}');
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
INSERT INTO "content" VALUES('content-title-3','conversation-3',NULL,NULL);
INSERT INTO "content" VALUES('content-summary','conversation-1','so far','[{"kind":"web","source_id":"https://example.org/ü"}]');
CREATE TABLE conversation (
        created_seq INTEGER PRIMARY KEY NOT NULL,
        conversation_id VARCHAR NOT NULL,
        body VARCHAR NOT NULL
    , deleted INTEGER NOT NULL DEFAULT 0);
INSERT INTO "conversation" VALUES(1,'conversation-1','{"conversation_id":"conversation-1","principal":"local:owner","title":"content-new-title","created_ms":1750000000250,"updated_ms":1750000018000,"created_seq":1,"mode":"yolo","folder":"","profile":"","steers":false,"summary":"content-summary","summarized_seq":3}',0);
INSERT INTO "conversation" VALUES(48,'conversation-2','{"conversation_id":"conversation-2","principal":"local:owner","title":null,"created_ms":1750000012000,"updated_ms":1750000020750,"created_seq":48,"mode":"build","folder":"/project","profile":"careful","steers":true,"summary":null,"summarized_seq":0}',0);
INSERT INTO "conversation" VALUES(81,'conversation-3','{"conversation_id":"conversation-3","principal":"local:owner","title":"content-title-3","created_ms":1750000020250,"updated_ms":1750000020250,"created_seq":81,"mode":"build","folder":"","profile":"","steers":false,"summary":null,"summarized_seq":0}',1);
INSERT INTO "conversation" VALUES(90,'conversation-group','{"conversation_id":"conversation-group","principal":"telegram:77:5","title":null,"created_ms":1750000022500,"updated_ms":1750000024250,"created_seq":90,"mode":"build","folder":"","profile":"","steers":false,"summary":null,"summarized_seq":0}',0);
CREATE TABLE cursor (
        credential VARCHAR NOT NULL,
        name VARCHAR NOT NULL,
        value VARCHAR NOT NULL,
        PRIMARY KEY (credential, name)
    );
CREATE TABLE delivery (
        delivery_id VARCHAR PRIMARY KEY NOT NULL,
        created_seq INTEGER NOT NULL,
        changed_seq INTEGER NOT NULL,
        account VARCHAR NOT NULL,
        chat VARCHAR NOT NULL,
        state VARCHAR NOT NULL,
        is_open INTEGER NOT NULL,
        messages VARCHAR NOT NULL,
        body VARCHAR NOT NULL
    );
INSERT INTO "delivery" VALUES('answer.task-1',3,23,'telegram:bot','-100','pending',1,'','{"delivery_id":"answer.task-1","kind":"final","target":{"account":"telegram:bot","chat":"-100","topic":"7","reply_to":"12","principal":"telegram:bot:42"},"conversation_id":"conversation-1","created_ms":1750000000750,"created_seq":3,"changed_seq":23,"state":"pending","revision":2,"shown_revision":0,"platform_ids":[],"fault":"","task_id":"task-1","approval_id":null,"text":null,"rows":[],"artifacts":[],"person":null}');
INSERT INTO "delivery" VALUES('waiting.task-1.18',18,21,'telegram:bot','-100','pending',1,'','{"delivery_id":"waiting.task-1.18","kind":"notice","target":{"account":"telegram:bot","chat":"-100","topic":"7","reply_to":"12","principal":"telegram:bot:42"},"conversation_id":"conversation-1","created_ms":1750000004500,"created_seq":18,"changed_seq":21,"state":"pending","revision":2,"shown_revision":0,"platform_ids":[],"fault":"","task_id":"task-1","approval_id":null,"text":null,"rows":[],"artifacts":[],"person":null}');
INSERT INTO "delivery" VALUES('answer.task-2',24,24,'telegram:bot','-100','pending',1,'','{"delivery_id":"answer.task-2","kind":"preview","target":{"account":"telegram:bot","chat":"-100","topic":"7","reply_to":"12","principal":"telegram:bot:42"},"conversation_id":"conversation-1","created_ms":1750000006000,"created_seq":24,"changed_seq":24,"state":"pending","revision":1,"shown_revision":0,"platform_ids":[],"fault":"","task_id":"task-2","approval_id":null,"text":null,"rows":[],"artifacts":[],"person":null}');
INSERT INTO "delivery" VALUES('answer.task-3',30,30,'telegram:bot','-100','pending',1,'','{"delivery_id":"answer.task-3","kind":"preview","target":{"account":"telegram:bot","chat":"-100","topic":"7","reply_to":"12","principal":"telegram:bot:42"},"conversation_id":"conversation-1","created_ms":1750000007500,"created_seq":30,"changed_seq":30,"state":"pending","revision":1,"shown_revision":0,"platform_ids":[],"fault":"","task_id":"task-3","approval_id":null,"text":null,"rows":[],"artifacts":[],"person":null}');
INSERT INTO "delivery" VALUES('answer.task-4',37,37,'telegram:bot','-100','pending',1,'','{"delivery_id":"answer.task-4","kind":"preview","target":{"account":"telegram:bot","chat":"-100","topic":"7","reply_to":"12","principal":"telegram:bot:42"},"conversation_id":"conversation-1","created_ms":1750000009250,"created_seq":37,"changed_seq":37,"state":"pending","revision":1,"shown_revision":0,"platform_ids":[],"fault":"","task_id":"task-4","approval_id":null,"text":null,"rows":[],"artifacts":[],"person":null}');
INSERT INTO "delivery" VALUES('waiting.task-4.44',44,46,'telegram:bot','-100','pending',1,'','{"delivery_id":"waiting.task-4.44","kind":"notice","target":{"account":"telegram:bot","chat":"-100","topic":"7","reply_to":"12","principal":"telegram:bot:42"},"conversation_id":"conversation-1","created_ms":1750000011000,"created_seq":44,"changed_seq":46,"state":"pending","revision":2,"shown_revision":0,"platform_ids":[],"fault":"","task_id":"task-4","approval_id":null,"text":null,"rows":[],"artifacts":[],"person":null}');
INSERT INTO "delivery" VALUES('answer.task-5',49,71,'telegram:bot','-100','pending',1,'','{"delivery_id":"answer.task-5","kind":"final","target":{"account":"telegram:bot","chat":"-100","topic":"7","reply_to":"12","principal":"telegram:bot:42"},"conversation_id":"conversation-2","created_ms":1750000012250,"created_seq":49,"changed_seq":71,"state":"pending","revision":2,"shown_revision":0,"platform_ids":[],"fault":"","task_id":"task-5","approval_id":null,"text":null,"rows":[],"artifacts":[],"person":null}');
INSERT INTO "delivery" VALUES('answer.task-6',74,77,'telegram:bot','-100','pending',1,'','{"delivery_id":"answer.task-6","kind":"final","target":{"account":"telegram:bot","chat":"-100","topic":"7","reply_to":"12","principal":"telegram:bot:42"},"conversation_id":"conversation-2","created_ms":1750000018500,"created_seq":74,"changed_seq":77,"state":"pending","revision":2,"shown_revision":0,"platform_ids":[],"fault":"","task_id":"task-6","approval_id":null,"text":null,"rows":[],"artifacts":[],"person":null}');
INSERT INTO "delivery" VALUES('answer.task-7',83,83,'telegram:bot','-100','pending',1,'','{"delivery_id":"answer.task-7","kind":"preview","target":{"account":"telegram:bot","chat":"-100","topic":"7","reply_to":"12","principal":"telegram:bot:42"},"conversation_id":"conversation-2","created_ms":1750000020750,"created_seq":83,"changed_seq":83,"state":"pending","revision":1,"shown_revision":0,"platform_ids":[],"fault":"","task_id":"task-7","approval_id":null,"text":null,"rows":[],"artifacts":[],"person":null}');
INSERT INTO "delivery" VALUES('pairing.telegram:77:5.012345.0',87,88,'telegram:77','42','pending',1,'','{"delivery_id":"pairing.telegram:77:5.012345.0","kind":"notice","target":{"account":"telegram:77","chat":"42","topic":"","reply_to":"","principal":null},"conversation_id":"conversation-1","created_ms":1750000021750,"created_seq":87,"changed_seq":88,"state":"pending","revision":2,"shown_revision":0,"platform_ids":[],"fault":"","task_id":null,"approval_id":null,"text":null,"rows":[],"artifacts":[],"person":"telegram:77:5"}');
INSERT INTO "delivery" VALUES('pairing.telegram:77:6.543210.0',89,89,'telegram:77','42','pending',1,'','{"delivery_id":"pairing.telegram:77:6.543210.0","kind":"notice","target":{"account":"telegram:77","chat":"42","topic":"","reply_to":"","principal":null},"conversation_id":"conversation-1","created_ms":1750000022250,"created_seq":89,"changed_seq":89,"state":"pending","revision":1,"shown_revision":0,"platform_ids":[],"fault":"","task_id":null,"approval_id":null,"text":null,"rows":[],"artifacts":[],"person":"telegram:77:6"}');
INSERT INTO "delivery" VALUES('answer.task-shown',91,95,'telegram:77','-100','shown',0,' 20 21 ','{"delivery_id":"answer.task-shown","kind":"final","target":{"account":"telegram:77","chat":"-100","topic":"4","reply_to":"11","principal":"telegram:77:5"},"conversation_id":"conversation-group","created_ms":1750000022750,"created_seq":91,"changed_seq":95,"state":"shown","revision":2,"shown_revision":2,"platform_ids":["20","21"],"fault":"","task_id":"task-shown","approval_id":null,"text":null,"rows":[],"artifacts":[],"person":null}');
INSERT INTO "delivery" VALUES('answer.task-kept-waiting',97,102,'telegram:77','-1009','pending',1,'','{"delivery_id":"answer.task-kept-waiting","kind":"preview","target":{"account":"telegram:77","chat":"-1009","topic":"4","reply_to":"","principal":"telegram:77:5"},"conversation_id":"conversation-group","created_ms":1750000024250,"created_seq":97,"changed_seq":102,"state":"pending","revision":2,"shown_revision":0,"platform_ids":[],"fault":"","task_id":"task-kept-waiting","approval_id":null,"text":null,"rows":[],"artifacts":[],"person":null}');
INSERT INTO "delivery" VALUES('waiting.task-kept-waiting.99',99,99,'telegram:77','-100','pending',1,'','{"delivery_id":"waiting.task-kept-waiting.99","kind":"notice","target":{"account":"telegram:77","chat":"-100","topic":"4","reply_to":"12","principal":"telegram:77:5"},"conversation_id":"conversation-group","created_ms":1750000024750,"created_seq":99,"changed_seq":99,"state":"pending","revision":1,"shown_revision":0,"platform_ids":[],"fault":"","task_id":"task-kept-waiting","approval_id":null,"text":null,"rows":[],"artifacts":[],"person":null}');
INSERT INTO "delivery" VALUES('delivery-1',100,100,'telegram:77','-100','gone',0,'','{"delivery_id":"delivery-1","kind":"notice","target":{"account":"telegram:77","chat":"-100","topic":"4","reply_to":"9","principal":null},"conversation_id":"conversation-1","created_ms":1750000025000,"created_seq":100,"changed_seq":100,"state":"gone","revision":1,"shown_revision":0,"platform_ids":[],"fault":"the bot was blocked","task_id":null,"approval_id":"approval-2","text":"content-notice","rows":[[{"text":"Go","data":"g:1"}]],"artifacts":["efefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefef"],"person":null}');
CREATE TABLE delivery_message (
        account VARCHAR NOT NULL,
        chat VARCHAR NOT NULL,
        message_id VARCHAR NOT NULL,
        delivery_id VARCHAR NOT NULL,
        PRIMARY KEY (account, chat, message_id, delivery_id)
    );
INSERT INTO "delivery_message" VALUES('telegram:77','-100','20','answer.task-shown');
INSERT INTO "delivery_message" VALUES('telegram:77','-100','21','answer.task-shown');
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
INSERT INTO "event" VALUES(1,1750000000250,NULL,'conversation-1','correlation-1','conversation_created',1,'{"type":"conversation_created","conversation_id":"conversation-1","principal":"local:owner","title":"content-title","mode":"build","folder":"","profile":"","steers":false,"place":""}',NULL,1);
INSERT INTO "event" VALUES(2,1750000000500,NULL,'conversation-1','correlation-1','conversation_updated',1,'{"type":"conversation_updated","conversation_id":"conversation-1","title":"content-new-title","mode":null,"folder":null,"profile":null,"steers":null}',NULL,1);
INSERT INTO "event" VALUES(3,1750000000750,'task-1','conversation-1','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-1","conversation_id":"conversation-1","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true,"speaker":""},"text":"content-first","attachments":["abababababababababababababababababababababababababababababababab"],"skill":"","kind":"answer","urls":[],"note":"","profile":""}',3,1);
INSERT INTO "event" VALUES(4,1750000001000,'task-1','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-1","previous":"queued","state":"running","reason":""}',3,1);
INSERT INTO "event" VALUES(5,1750000001250,'task-1','conversation-1','correlation-1','model_call_started',1,'{"type":"model_call_started","task_id":"task-1","call_id":"call-1","role":"thinker","attempt":1,"replaces":null,"purpose":"think","step_id":null,"up_to_seq":0,"heard":[]}',3,1);
INSERT INTO "event" VALUES(6,1750000001500,'task-1','conversation-1','correlation-1','model_call_failed',1,'{"type":"model_call_failed","task_id":"task-1","call_id":"call-1","fault":"died","message":"The model''s process ended by signal 9.","text":"content-half"}',3,1);
INSERT INTO "event" VALUES(7,1750000001750,'task-1','conversation-1','correlation-1','model_call_started',1,'{"type":"model_call_started","task_id":"task-1","call_id":"call-2","role":"thinker","attempt":2,"replaces":"call-1","purpose":"think","step_id":null,"up_to_seq":0,"heard":[]}',3,1);
INSERT INTO "event" VALUES(8,1750000002000,'task-1','conversation-1','correlation-1','model_call_finished',1,'{"type":"model_call_finished","task_id":"task-1","call_id":"call-2","text":"content-directive","finish_reason":"stop","slot":"main","usage":{"prompt_tokens":90,"reused_tokens":40,"completion_tokens":12,"queued_ms":1,"prefill_ms":20,"decode_ms":110},"script_line":3,"reasoning":null}',3,1);
INSERT INTO "event" VALUES(9,1750000002250,'task-1','conversation-1','correlation-1','tool_call_proposed',1,'{"type":"tool_call_proposed","task_id":"task-1","call_id":"call-3","tool":"shell_exec","arguments":"content-arguments","direct":true,"repeats":null,"fingerprint":"","step_id":null,"words":null}',3,1);
INSERT INTO "event" VALUES(10,1750000002500,'task-1','conversation-1','correlation-1','tool_call_inspected',1,'{"type":"tool_call_inspected","task_id":"task-1","call_id":"call-3","effect":"unsafe","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","verdict":"ask","reasons":["every command asks"]}',3,1);
INSERT INTO "event" VALUES(11,1750000002750,'task-1','conversation-1','correlation-1','approval_requested',1,'{"type":"approval_requested","task_id":"task-1","approval_id":"approval-1","call_id":"call-3","tool":"shell_exec","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","card":"content-card","reasons":["every command asks"],"always_allowed":true,"expires_ms":1750086400000,"key":"","folder":"","approvers":[],"places":[]}',3,1);
INSERT INTO "event" VALUES(12,1750000003000,'task-1','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-1","previous":"running","state":"awaiting_approval","reason":"shell_exec asks"}',3,1);
INSERT INTO "event" VALUES(13,1750000003250,'task-1','conversation-1','correlation-1','approval_resolved',1,'{"type":"approval_resolved","task_id":"task-1","approval_id":"approval-1","call_id":"call-3","outcome":"allowed","decided_by":"local:owner","reason":null,"grant_id":null}',3,1);
INSERT INTO "event" VALUES(14,1750000003500,'task-1','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-1","previous":"awaiting_approval","state":"running","reason":""}',3,1);
INSERT INTO "event" VALUES(15,1750000003750,'task-1','conversation-1','correlation-1','tool_call_started',1,'{"type":"tool_call_started","task_id":"task-1","call_id":"call-3","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","effect":"unsafe","attempt":1,"intent":"touch x","approval_id":"approval-1","grant_id":null,"basis":null,"files":[]}',3,1);
INSERT INTO "event" VALUES(16,1750000004000,'task-1','conversation-1','correlation-1','task_recovered',1,'{"type":"task_recovered","task_id":"task-1","count":1}',3,1);
INSERT INTO "event" VALUES(17,1750000004250,'task-1','conversation-1','correlation-1','tool_call_ended',1,'{"type":"tool_call_ended","task_id":"task-1","call_id":"call-3","outcome":"outcome_unknown","result":null,"exit_code":null,"artifact":null,"duration_ms":0,"commit":"","files":[],"diff":null}',3,1);
INSERT INTO "event" VALUES(18,1750000004500,'task-1','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-1","previous":"running","state":"awaiting_decision","reason":"nobody saw its end"}',3,1);
INSERT INTO "event" VALUES(19,1750000004750,'task-1','conversation-1','correlation-1','task_decided',1,'{"type":"task_decided","task_id":"task-1","decision":"mark_done","principal":"local:owner","call_id":"call-3"}',3,1);
INSERT INTO "event" VALUES(20,1750000005000,'task-1','conversation-1','correlation-1','tool_call_ended',1,'{"type":"tool_call_ended","task_id":"task-1","call_id":"call-3","outcome":"marked_done","result":"content-result","exit_code":0,"artifact":"efefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefef","duration_ms":1234,"commit":"","files":[],"diff":null}',3,1);
INSERT INTO "event" VALUES(21,1750000005250,'task-1','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-1","previous":"awaiting_decision","state":"running","reason":""}',3,1);
INSERT INTO "event" VALUES(22,1750000005500,'task-1','conversation-1','correlation-1','answer_given',1,'{"type":"answer_given","task_id":"task-1","text":"content-answer"}',3,1);
INSERT INTO "event" VALUES(23,1750000005750,'task-1','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-1","previous":"running","state":"completed","reason":""}',3,1);
INSERT INTO "event" VALUES(24,1750000006000,'task-2','conversation-1','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-2","conversation_id":"conversation-1","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true,"speaker":""},"text":"content-second","attachments":["abababababababababababababababababababababababababababababababab"],"skill":"","kind":"answer","urls":[],"note":"","profile":""}',24,1);
INSERT INTO "event" VALUES(25,1750000006250,'task-2','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-2","previous":"queued","state":"running","reason":""}',24,1);
INSERT INTO "event" VALUES(26,1750000006500,'task-2','conversation-1','correlation-1','tool_call_proposed',1,'{"type":"tool_call_proposed","task_id":"task-2","call_id":"call-4","tool":"shell_exec","arguments":"content-arguments-2","direct":false,"repeats":null,"fingerprint":"","step_id":null,"words":null}',24,1);
INSERT INTO "event" VALUES(27,1750000006750,'task-2','conversation-1','correlation-1','tool_call_inspected',1,'{"type":"tool_call_inspected","task_id":"task-2","call_id":"call-4","effect":"unsafe","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","verdict":"ask","reasons":["every command asks"]}',24,1);
INSERT INTO "event" VALUES(28,1750000007000,'task-2','conversation-1','correlation-1','approval_requested',1,'{"type":"approval_requested","task_id":"task-2","approval_id":"approval-2","call_id":"call-4","tool":"shell_exec","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","card":"content-card-2","reasons":["every command asks"],"always_allowed":true,"expires_ms":1750086400000,"key":"","folder":"","approvers":[],"places":[]}',24,1);
INSERT INTO "event" VALUES(29,1750000007250,'task-2','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-2","previous":"running","state":"awaiting_approval","reason":"shell_exec asks"}',24,1);
INSERT INTO "event" VALUES(30,1750000007500,'task-3','conversation-1','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-3","conversation_id":"conversation-1","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true,"speaker":""},"text":"content-third","attachments":["abababababababababababababababababababababababababababababababab"],"skill":"","kind":"answer","urls":[],"note":"","profile":""}',30,1);
INSERT INTO "event" VALUES(31,1750000007750,NULL,'conversation-1','correlation-1','conversation_updated',1,'{"type":"conversation_updated","conversation_id":"conversation-1","title":null,"mode":"yolo","folder":null,"profile":null,"steers":null}',NULL,1);
INSERT INTO "event" VALUES(32,1750000008000,NULL,'conversation-1','correlation-1','grant_created',1,'{"type":"grant_created","grant_id":"grant-1","key":"1111111111111111111111111111111111111111111111111111111111111111","tool":"shell_exec","principal":"telegram:bot:42","folder":"/project","card":"content-card","granted_by":"local:owner","expires_ms":1750086400000,"uses":2}',NULL,1);
INSERT INTO "event" VALUES(33,1750000008250,NULL,'conversation-1','correlation-1','grant_created',1,'{"type":"grant_created","grant_id":"grant-2","key":"2222222222222222222222222222222222222222222222222222222222222222","tool":"shell_exec","principal":"telegram:bot:42","folder":"/project","card":"content-card","granted_by":"local:owner","expires_ms":1750086400000,"uses":2}',NULL,1);
INSERT INTO "event" VALUES(34,1750000008500,NULL,'conversation-1','correlation-1','grant_revoked',1,'{"type":"grant_revoked","grant_id":"grant-2","principal":"local:owner"}',NULL,1);
INSERT INTO "event" VALUES(35,1750000008750,NULL,'conversation-1','correlation-1','project_tainted',1,'{"type":"project_tainted","folder":"/old","sources":[{"kind":"web","source_id":"https://example.org/ü"}]}',NULL,1);
INSERT INTO "event" VALUES(36,1750000009000,NULL,'conversation-1','correlation-1','project_trusted',1,'{"type":"project_trusted","folder":"/old","principal":"local:owner"}',NULL,1);
INSERT INTO "event" VALUES(37,1750000009250,'task-4','conversation-1','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-4","conversation_id":"conversation-1","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true,"speaker":""},"text":"content-fourth","attachments":["abababababababababababababababababababababababababababababababab"],"skill":"","kind":"answer","urls":[],"note":"","profile":""}',37,1);
INSERT INTO "event" VALUES(38,1750000009500,'task-4','conversation-1','correlation-1','task_tainted',1,'{"type":"task_tainted","task_id":"task-4","sources":[{"kind":"web","source_id":"https://example.org/ü"},{"kind":"forwarded","source_id":"12"}]}',37,1);
INSERT INTO "event" VALUES(39,1750000009750,'task-4','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-4","previous":"queued","state":"running","reason":""}',37,1);
INSERT INTO "event" VALUES(40,1750000010000,'task-4','conversation-1','correlation-1','tool_call_proposed',1,'{"type":"tool_call_proposed","task_id":"task-4","call_id":"call-5","tool":"shell_exec","arguments":"content-arguments-3","direct":false,"repeats":null,"fingerprint":"","step_id":null,"words":null}',37,1);
INSERT INTO "event" VALUES(41,1750000010250,'task-4','conversation-1','correlation-1','tool_call_inspected',1,'{"type":"tool_call_inspected","task_id":"task-4","call_id":"call-5","effect":"unsafe","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","verdict":"ask","reasons":["every command asks"]}',37,1);
INSERT INTO "event" VALUES(42,1750000010500,NULL,'conversation-1','correlation-1','project_tainted',1,'{"type":"project_tainted","folder":"/project","sources":[{"kind":"web","source_id":"https://example.org/ü"},{"kind":"forwarded","source_id":"12"}]}',NULL,1);
INSERT INTO "event" VALUES(43,1750000010750,'task-4','conversation-1','correlation-1','secret_requested',1,'{"type":"secret_requested","task_id":"task-4","call_id":"call-5","what":"the password for sudo","expires_ms":1750000600000}',37,1);
INSERT INTO "event" VALUES(44,1750000011000,'task-4','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-4","previous":"running","state":"awaiting_secret","reason":""}',37,1);
INSERT INTO "event" VALUES(45,1750000011250,'task-4','conversation-1','correlation-1','secret_provided',1,'{"type":"secret_provided","task_id":"task-4","call_id":"call-5","principal":"telegram:bot:42"}',37,1);
INSERT INTO "event" VALUES(46,1750000011500,'task-4','conversation-1','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-4","previous":"awaiting_secret","state":"running","reason":""}',37,1);
INSERT INTO "event" VALUES(47,1750000011750,'task-4','conversation-1','correlation-1','tool_call_started',1,'{"type":"tool_call_started","task_id":"task-4","call_id":"call-5","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","effect":"unsafe","attempt":1,"intent":"","approval_id":null,"grant_id":"grant-1","basis":"grant","files":[]}',37,1);
INSERT INTO "event" VALUES(48,1750000012000,NULL,'conversation-2','correlation-1','conversation_created',1,'{"type":"conversation_created","conversation_id":"conversation-2","principal":"local:owner","title":null,"mode":"build","folder":"/project","profile":"careful","steers":true,"place":""}',NULL,48);
INSERT INTO "event" VALUES(49,1750000012250,'task-5','conversation-2','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-5","conversation_id":"conversation-2","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true,"speaker":""},"text":"content-fifth","attachments":["abababababababababababababababababababababababababababababababab"],"skill":"tests","kind":"answer","urls":[],"note":"It is noon.","profile":""}',49,48);
INSERT INTO "event" VALUES(50,1750000012500,'task-5','conversation-2','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-5","previous":"queued","state":"running","reason":""}',49,48);
INSERT INTO "event" VALUES(51,1750000012750,'task-5','conversation-2','correlation-1','reply_refused',1,'{"type":"reply_refused","task_id":"task-5","call_id":"call-1","text":"content-refused","reason":"it is no JSON","cut":true}',49,48);
INSERT INTO "event" VALUES(52,1750000013000,'task-5','conversation-2','correlation-1','reply_refused',1,'{"type":"reply_refused","task_id":"task-5","call_id":"call-1","text":"content-refused-2","reason":"it is no JSON","cut":false}',49,48);
INSERT INTO "event" VALUES(53,1750000013250,'task-5','conversation-2','correlation-1','task_steered',1,'{"type":"task_steered","task_id":"task-5","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true,"speaker":""},"text":"content-further"}',49,48);
INSERT INTO "event" VALUES(54,1750000013500,'task-5','conversation-2','correlation-1','directive_taken',1,'{"type":"directive_taken","task_id":"task-5","kind":"plan","source":"compiler","words":null}',49,48);
INSERT INTO "event" VALUES(55,1750000013750,'task-5','conversation-2','correlation-1','plan_made',1,'{"type":"plan_made","task_id":"task-5","text":"content-plan","steps":[{"step_id":"write","goal":"content-goal","kind":"tool","tool":"file_write","arguments":"content-arguments-6","fingerprint":"7777777777777777777777777777777777777777777777777777777777777777","after":[],"files":[]},{"step_id":"tell","goal":"content-goal-2","kind":"respond","tool":"","arguments":null,"fingerprint":"","after":["write"],"files":[]}]}',49,48);
INSERT INTO "event" VALUES(56,1750000014000,'task-5','conversation-2','correlation-1','step_started',1,'{"type":"step_started","task_id":"task-5","step_id":"write","attempt":1}',49,48);
INSERT INTO "event" VALUES(57,1750000014250,'task-5','conversation-2','correlation-1','tool_call_proposed',1,'{"type":"tool_call_proposed","task_id":"task-5","call_id":"call-6","tool":"file_write","arguments":"content-arguments-6","direct":false,"repeats":null,"fingerprint":"7777777777777777777777777777777777777777777777777777777777777777","step_id":"write","words":null}',49,48);
INSERT INTO "event" VALUES(58,1750000014500,'task-5','conversation-2','correlation-1','tool_call_inspected',1,'{"type":"tool_call_inspected","task_id":"task-5","call_id":"call-6","effect":"unsafe","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","verdict":"ask","reasons":["every command asks"]}',49,48);
INSERT INTO "event" VALUES(59,1750000014750,'task-5','conversation-2','correlation-1','tool_call_started',1,'{"type":"tool_call_started","task_id":"task-5","call_id":"call-6","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","effect":"unsafe","attempt":1,"intent":"","approval_id":null,"grant_id":null,"basis":"read_only","files":[]}',49,48);
INSERT INTO "event" VALUES(60,1750000015000,'task-5','conversation-2','correlation-1','tool_call_ended',1,'{"type":"tool_call_ended","task_id":"task-5","call_id":"call-6","outcome":"finished","result":"content-written","exit_code":null,"artifact":null,"duration_ms":0,"commit":"abababababababababababababababababababab","files":["a/ü.py"],"diff":"content-diff"}',49,48);
INSERT INTO "event" VALUES(61,1750000015250,'task-5','conversation-2','correlation-1','tool_call_proposed',1,'{"type":"tool_call_proposed","task_id":"task-5","call_id":"call-7","tool":"shell_exec","arguments":"content-arguments-6","direct":false,"repeats":null,"fingerprint":"7777777777777777777777777777777777777777777777777777777777777777","step_id":"write","words":null}',49,48);
INSERT INTO "event" VALUES(62,1750000015500,'task-5','conversation-2','correlation-1','tool_call_inspected',1,'{"type":"tool_call_inspected","task_id":"task-5","call_id":"call-7","effect":"unsafe","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","verdict":"ask","reasons":["every command asks"]}',49,48);
INSERT INTO "event" VALUES(63,1750000015750,'task-5','conversation-2','correlation-1','tool_call_started',1,'{"type":"tool_call_started","task_id":"task-5","call_id":"call-7","digest":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd","effect":"unsafe","attempt":1,"intent":"","approval_id":null,"grant_id":null,"basis":"read_only","files":[]}',49,48);
INSERT INTO "event" VALUES(64,1750000016000,'task-5','conversation-2','correlation-1','tool_call_ended',1,'{"type":"tool_call_ended","task_id":"task-5","call_id":"call-7","outcome":"finished","result":"content-written","exit_code":null,"artifact":null,"duration_ms":0,"commit":"","files":[],"diff":null}',49,48);
INSERT INTO "event" VALUES(65,1750000016250,'task-5','conversation-2','correlation-1','step_judged',1,'{"type":"step_judged","task_id":"task-5","step_id":"write","correctness":9,"usefulness":9,"safety":10,"follows":"continue","note":"content-note"}',49,48);
INSERT INTO "event" VALUES(66,1750000016500,'task-5','conversation-2','correlation-1','step_ended',1,'{"type":"step_ended","task_id":"task-5","step_id":"write","outcome":"done","result":"content-written"}',49,48);
INSERT INTO "event" VALUES(67,1750000016750,'task-5','conversation-2','correlation-1','step_started',1,'{"type":"step_started","task_id":"task-5","step_id":"tell","attempt":1}',49,48);
INSERT INTO "event" VALUES(68,1750000017000,'task-5','conversation-2','correlation-1','step_judged',1,'{"type":"step_judged","task_id":"task-5","step_id":"tell","correctness":null,"usefulness":null,"safety":10,"follows":"respond","note":"content-note"}',49,48);
INSERT INTO "event" VALUES(69,1750000017250,'task-5','conversation-2','correlation-1','step_ended',1,'{"type":"step_ended","task_id":"task-5","step_id":"tell","outcome":"failed","result":null}',49,48);
INSERT INTO "event" VALUES(70,1750000017500,'task-5','conversation-2','correlation-1','answer_given',1,'{"type":"answer_given","task_id":"task-5","text":"content-answer-5"}',49,48);
INSERT INTO "event" VALUES(71,1750000017750,'task-5','conversation-2','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-5","previous":"running","state":"completed","reason":""}',49,48);
INSERT INTO "event" VALUES(72,1750000018000,NULL,'conversation-1','correlation-1','conversation_compacted',1,'{"type":"conversation_compacted","conversation_id":"conversation-1","summary":"content-summary","up_to_seq":3}',NULL,1);
INSERT INTO "event" VALUES(73,1750000018250,'task-5','conversation-2','correlation-1','feedback_given',1,'{"type":"feedback_given","task_id":"task-5","principal":"telegram:bot:42","good":false,"text":"content-feedback"}',49,48);
INSERT INTO "event" VALUES(74,1750000018500,'task-6','conversation-2','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-6","conversation_id":"conversation-2","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true,"speaker":""},"text":"content-sixth","attachments":["abababababababababababababababababababababababababababababababab"],"skill":"","kind":"answer","urls":[],"note":"","profile":""}',74,48);
INSERT INTO "event" VALUES(75,1750000018750,'task-6','conversation-2','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-6","previous":"queued","state":"running","reason":""}',74,48);
INSERT INTO "event" VALUES(76,1750000019000,'task-6','conversation-2','correlation-1','answer_given',1,'{"type":"answer_given","task_id":"task-6","text":"content-answer-6"}',74,48);
INSERT INTO "event" VALUES(77,1750000019250,'task-6','conversation-2','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-6","previous":"running","state":"completed","reason":""}',74,48);
INSERT INTO "event" VALUES(78,1750000019500,'task-6','conversation-2','correlation-1','exchange_undone',1,'{"type":"exchange_undone","task_id":"task-6","principal":"telegram:bot:42","folder":"/project","commits":["efefefefefefefefefefefefefefefefefefefef"],"left":["call-7"]}',74,48);
INSERT INTO "event" VALUES(79,1750000019750,'task-6','conversation-2','correlation-1','project_reverted',1,'{"type":"project_reverted","task_id":"task-6","commit":"1212121212121212121212121212121212121212","fault":""}',74,48);
INSERT INTO "event" VALUES(80,1750000020000,'task-6','conversation-2','correlation-1','exchange_undone',1,'{"type":"exchange_undone","task_id":"task-6","principal":"telegram:bot:42","folder":"/project","commits":["efefefefefefefefefefefefefefefefefefefef"],"left":[]}',74,48);
INSERT INTO "event" VALUES(81,1750000020250,NULL,'conversation-3','correlation-1','conversation_created',1,'{"type":"conversation_created","conversation_id":"conversation-3","principal":"local:owner","title":"content-title-3","mode":"build","folder":"","profile":"","steers":false,"place":""}',NULL,81);
INSERT INTO "event" VALUES(82,1750000020500,NULL,'conversation-3','correlation-1','conversation_deleted',1,'{"type":"conversation_deleted","conversation_id":"conversation-3","principal":"local:owner"}',NULL,81);
INSERT INTO "event" VALUES(83,1750000020750,'task-7','conversation-2','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-7","conversation_id":"conversation-2","origin":{"principal":"telegram:bot:42","channel":"telegram","chat":"-100","topic":"7","message_id":"12","reply_to":"11","forwarded":true,"speaker":""},"text":"content-seventh","attachments":["abababababababababababababababababababababababababababababababab"],"skill":"","kind":"answer","urls":[],"note":"","profile":""}',83,48);
INSERT INTO "event" VALUES(84,1750000021000,'task-7','conversation-2','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-7","previous":"queued","state":"running","reason":""}',83,48);
INSERT INTO "event" VALUES(85,1750000021250,'task-7','conversation-2','correlation-1','plan_made',1,'{"type":"plan_made","task_id":"task-7","text":"content-plan","steps":[{"step_id":"write","goal":"content-goal","kind":"tool","tool":"file_write","arguments":"content-arguments-6","fingerprint":"7777777777777777777777777777777777777777777777777777777777777777","after":[],"files":[]},{"step_id":"tell","goal":"content-goal-2","kind":"respond","tool":"","arguments":null,"fingerprint":"","after":["write"],"files":[]}]}',83,48);
INSERT INTO "event" VALUES(86,1750000021500,'task-7','conversation-2','correlation-1','step_started',1,'{"type":"step_started","task_id":"task-7","step_id":"write","attempt":1}',83,48);
INSERT INTO "event" VALUES(87,1750000021750,NULL,'conversation-1','correlation-1','pairing_requested',1,'{"type":"pairing_requested","principal":"telegram:77:5","name":"Ä","code":"012345","chats":["42"]}',NULL,1);
INSERT INTO "event" VALUES(88,1750000022000,NULL,'conversation-1','correlation-1','pairing_decided',1,'{"type":"pairing_decided","principal":"telegram:77:5","allowed":true,"decided_by":"local:owner","code":"012345","chats":["42"]}',NULL,1);
INSERT INTO "event" VALUES(89,1750000022250,NULL,'conversation-1','correlation-1','pairing_requested',1,'{"type":"pairing_requested","principal":"telegram:77:6","name":"B","code":"543210","chats":["42"]}',NULL,1);
INSERT INTO "event" VALUES(90,1750000022500,NULL,'conversation-group','correlation-1','conversation_created',1,'{"type":"conversation_created","conversation_id":"conversation-group","principal":"telegram:77:5","title":null,"mode":"build","folder":"","profile":"","steers":false,"place":"telegram:77/-100/4"}',NULL,90);
INSERT INTO "event" VALUES(91,1750000022750,'task-shown','conversation-group','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-shown","conversation_id":"conversation-group","origin":{"principal":"telegram:77:5","channel":"","chat":"-100","topic":"4","message_id":"11","reply_to":"","forwarded":false,"speaker":"Ä"},"text":"content-eighth","attachments":[],"skill":"","kind":"answer","urls":[],"note":"","profile":""}',91,90);
INSERT INTO "event" VALUES(92,1750000023000,'task-shown','conversation-group','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-shown","previous":"queued","state":"running","reason":""}',91,90);
INSERT INTO "event" VALUES(93,1750000023250,NULL,'conversation-1','correlation-1','delivery_reported',1,'{"type":"delivery_reported","delivery_id":"answer.task-shown","revision":1,"state":"sent","platform_ids":["20"],"fault":"","account":"telegram:77","chat":"-100"}',NULL,1);
INSERT INTO "event" VALUES(94,1750000023500,'task-shown','conversation-group','correlation-1','answer_given',1,'{"type":"answer_given","task_id":"task-shown","text":"content-answer-8"}',91,90);
INSERT INTO "event" VALUES(95,1750000023750,'task-shown','conversation-group','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-shown","previous":"running","state":"completed","reason":""}',91,90);
INSERT INTO "event" VALUES(96,1750000024000,NULL,'conversation-1','correlation-1','delivery_reported',1,'{"type":"delivery_reported","delivery_id":"answer.task-shown","revision":2,"state":"shown","platform_ids":["20","21"],"fault":"","account":"telegram:77","chat":"-100"}',NULL,1);
INSERT INTO "event" VALUES(97,1750000024250,'task-kept-waiting','conversation-group','correlation-1','task_submitted',1,'{"type":"task_submitted","task_id":"task-kept-waiting","conversation_id":"conversation-group","origin":{"principal":"telegram:77:5","channel":"","chat":"-100","topic":"4","message_id":"12","reply_to":"","forwarded":false,"speaker":"Ä"},"text":"content-ninth","attachments":[],"skill":"","kind":"answer","urls":[],"note":"","profile":""}',97,90);
INSERT INTO "event" VALUES(98,1750000024500,'task-kept-waiting','conversation-group','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-kept-waiting","previous":"queued","state":"running","reason":""}',97,90);
INSERT INTO "event" VALUES(99,1750000024750,'task-kept-waiting','conversation-group','correlation-1','task_state_changed',1,'{"type":"task_state_changed","task_id":"task-kept-waiting","previous":"running","state":"model_unavailable","reason":"no model"}',97,90);
INSERT INTO "event" VALUES(100,1750000025000,NULL,'conversation-1','correlation-1','notice_posted',1,'{"type":"notice_posted","delivery_id":"delivery-1","target":{"account":"telegram:77","chat":"-100","topic":"4","reply_to":"9","principal":null},"text":"content-notice","rows":[[{"text":"Go","data":"g:1"}]],"artifacts":["efefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefef"],"approval_id":"approval-2"}',NULL,1);
INSERT INTO "event" VALUES(101,1750000025250,NULL,'conversation-1','correlation-1','delivery_reported',1,'{"type":"delivery_reported","delivery_id":"delivery-1","revision":1,"state":"gone","platform_ids":[],"fault":"the bot was blocked","account":"telegram:77","chat":"-100"}',NULL,1);
INSERT INTO "event" VALUES(102,1750000025500,NULL,'conversation-1','correlation-1','chat_moved',1,'{"type":"chat_moved","account":"telegram:77","chat":"-100","to":"-1009","tasks":["task-kept-waiting"],"approvals":[],"deliveries":["answer.task-kept-waiting"]}',NULL,1);
CREATE TABLE preset (
        kind VARCHAR NOT NULL,
        name VARCHAR NOT NULL,
        body VARCHAR NOT NULL,
        PRIMARY KEY (kind, name)
    );
INSERT INTO "preset" VALUES('profile','duck','{"description":"quackish","instructions":"Quack. äß 漢 🦆","tools":["file_read"],"generation":{"thinker":{"temperature":0.5,"top_p":null,"top_k":null,"min_p":null,"repeat_penalty":null,"seed":null,"answer_tokens":null,"thinking":true,"thinking_tokens":null}},"skills":false,"critic":true,"memory":"off"}');
INSERT INTO "preset" VALUES('skill','swimming','{"text":"Swim.","keywords":["duck pond"]}');
CREATE TABLE project (
        name VARCHAR PRIMARY KEY NOT NULL,
        folder VARCHAR NOT NULL,
        created_ms INTEGER NOT NULL
    );
INSERT INTO "project" VALUES('pond','/project',1750000000000);
CREATE TABLE projection (
        version INTEGER PRIMARY KEY NOT NULL,
        seq INTEGER NOT NULL,
        tasks INTEGER NOT NULL,
        approvals INTEGER NOT NULL,
        conversations INTEGER NOT NULL
    , said INTEGER NOT NULL DEFAULT 0, summaries INTEGER NOT NULL DEFAULT 0, deliveries INTEGER NOT NULL DEFAULT 0);
INSERT INTO "projection" VALUES(4,102,9,2,4,8,1,15);
CREATE TABLE run (run_id INTEGER PRIMARY KEY NOT NULL, drained INTEGER NOT NULL);
INSERT INTO "run" VALUES(1,1);
CREATE TABLE said (
        seq INTEGER PRIMARY KEY NOT NULL,
        task_seq INTEGER NOT NULL,
        body VARCHAR NOT NULL
    );
INSERT INTO "said" VALUES(20,3,'[{"kind":"call","words":null,"content":"content-arguments","result":"content-result","name":"shell_exec"}]');
INSERT INTO "said" VALUES(49,49,'[{"kind":"note","words":null,"content":null,"result":null,"name":"It is noon."},{"kind":"skill","words":null,"content":null,"result":null,"name":"tests"}]');
INSERT INTO "said" VALUES(52,49,'[{"kind":"refused","words":null,"content":"content-refused-2","result":null,"name":"it is no JSON"}]');
INSERT INTO "said" VALUES(55,49,'[{"kind":"plan","words":null,"content":"content-plan","result":null,"name":""}]');
INSERT INTO "said" VALUES(60,49,'[{"kind":"call","words":null,"content":"content-arguments-6","result":"content-written","name":"file_write"}]');
INSERT INTO "said" VALUES(64,49,'[{"kind":"call","words":null,"content":"content-arguments-6","result":"content-written","name":"shell_exec"}]');
INSERT INTO "said" VALUES(69,49,'[{"kind":"step","words":null,"content":"content-goal-2","result":null,"name":"tell (failed)"}]');
INSERT INTO "said" VALUES(85,83,'[{"kind":"plan","words":null,"content":"content-plan","result":null,"name":""}]');
CREATE TABLE summary (
        seq INTEGER PRIMARY KEY NOT NULL,
        conversation_seq INTEGER NOT NULL,
        up_to_seq INTEGER NOT NULL,
        content_id VARCHAR NOT NULL
    );
INSERT INTO "summary" VALUES(72,1,3,'content-summary');
CREATE TABLE task (
        submitted_seq INTEGER PRIMARY KEY NOT NULL,
        task_id VARCHAR NOT NULL,
        conversation_seq INTEGER NOT NULL,
        state VARCHAR NOT NULL,
        answered INTEGER NOT NULL,
        body VARCHAR NOT NULL,
        open_calls VARCHAR
    , plan VARCHAR);
INSERT INTO "task" VALUES(3,'task-1',1,'completed',1,'{"task_id":"task-1","conversation_id":"conversation-1","principal":"telegram:bot:42","state":"completed","reason":"","text":"content-first","answer":"content-answer","created_ms":1750000000750,"updated_ms":1750000005750,"submitted_seq":3,"pending_approvals":[],"unknown_calls":[],"taint":[],"secret":"","kind":"answer","folder":"","commits":[],"left":["call-3"],"undone":false,"good":null,"account":"telegram:bot","waiting":null}',NULL,NULL);
INSERT INTO "task" VALUES(24,'task-2',1,'awaiting_approval',0,'{"task_id":"task-2","conversation_id":"conversation-1","principal":"telegram:bot:42","state":"awaiting_approval","reason":"shell_exec asks","text":"content-second","answer":null,"created_ms":1750000006000,"updated_ms":1750000007250,"submitted_seq":24,"pending_approvals":["approval-2"],"unknown_calls":[],"taint":[],"secret":"","kind":"answer","folder":"","commits":[],"left":[],"undone":false,"good":null,"account":"telegram:bot","waiting":null}','[{"call_id":"call-4","tool":"shell_exec","arguments":"content-arguments-2","words":null,"changes":false}]',NULL);
INSERT INTO "task" VALUES(30,'task-3',1,'queued',0,'{"task_id":"task-3","conversation_id":"conversation-1","principal":"telegram:bot:42","state":"queued","reason":"","text":"content-third","answer":null,"created_ms":1750000007500,"updated_ms":1750000007500,"submitted_seq":30,"pending_approvals":[],"unknown_calls":[],"taint":[],"secret":"","kind":"answer","folder":"","commits":[],"left":[],"undone":false,"good":null,"account":"telegram:bot","waiting":null}',NULL,NULL);
INSERT INTO "task" VALUES(37,'task-4',1,'running',0,'{"task_id":"task-4","conversation_id":"conversation-1","principal":"telegram:bot:42","state":"running","reason":"","text":"content-fourth","answer":null,"created_ms":1750000009250,"updated_ms":1750000011500,"submitted_seq":37,"pending_approvals":[],"unknown_calls":[],"taint":[{"kind":"forwarded","source_id":"12"},{"kind":"web","source_id":"https://example.org/ü"}],"secret":"","kind":"answer","folder":"","commits":[],"left":[],"undone":false,"good":null,"account":"telegram:bot","waiting":null}','[{"call_id":"call-5","tool":"shell_exec","arguments":"content-arguments-3","words":null,"changes":true}]',NULL);
INSERT INTO "task" VALUES(49,'task-5',48,'completed',1,'{"task_id":"task-5","conversation_id":"conversation-2","principal":"telegram:bot:42","state":"completed","reason":"","text":"content-fifth","answer":"content-answer-5","created_ms":1750000012250,"updated_ms":1750000018250,"submitted_seq":49,"pending_approvals":[],"unknown_calls":[],"taint":[],"secret":"","kind":"answer","folder":"/project","commits":["abababababababababababababababababababab"],"left":["call-7"],"undone":false,"good":false,"account":"telegram:bot","waiting":null}',NULL,NULL);
INSERT INTO "task" VALUES(74,'task-6',48,'completed',1,'{"task_id":"task-6","conversation_id":"conversation-2","principal":"telegram:bot:42","state":"completed","reason":"","text":"content-sixth","answer":"content-answer-6","created_ms":1750000018500,"updated_ms":1750000020000,"submitted_seq":74,"pending_approvals":[],"unknown_calls":[],"taint":[],"secret":"","kind":"answer","folder":"/project","commits":[],"left":[],"undone":true,"good":null,"account":"telegram:bot","waiting":null}',NULL,NULL);
INSERT INTO "task" VALUES(83,'task-7',48,'running',0,'{"task_id":"task-7","conversation_id":"conversation-2","principal":"telegram:bot:42","state":"running","reason":"","text":"content-seventh","answer":null,"created_ms":1750000020750,"updated_ms":1750000021000,"submitted_seq":83,"pending_approvals":[],"unknown_calls":[],"taint":[],"secret":"","kind":"answer","folder":"/project","commits":[],"left":[],"undone":false,"good":null,"account":"telegram:bot","waiting":null}',NULL,'[{"step_id":"write","goal":"content-goal","kind":"tool","tool":"file_write","arguments":"content-arguments-6","fingerprint":"7777777777777777777777777777777777777777777777777777777777777777","after":[],"files":[]},{"step_id":"tell","goal":"content-goal-2","kind":"respond","tool":"","arguments":null,"fingerprint":"","after":["write"],"files":[]}]');
INSERT INTO "task" VALUES(91,'task-shown',90,'completed',1,'{"task_id":"task-shown","conversation_id":"conversation-group","principal":"telegram:77:5","state":"completed","reason":"","text":"content-eighth","answer":"content-answer-8","created_ms":1750000022750,"updated_ms":1750000023750,"submitted_seq":91,"pending_approvals":[],"unknown_calls":[],"taint":[],"secret":"","kind":"answer","folder":"","commits":[],"left":[],"undone":false,"good":null,"account":"telegram:77","waiting":null}',NULL,NULL);
INSERT INTO "task" VALUES(97,'task-kept-waiting',90,'model_unavailable',0,'{"task_id":"task-kept-waiting","conversation_id":"conversation-group","principal":"telegram:77:5","state":"model_unavailable","reason":"no model","text":"content-ninth","answer":null,"created_ms":1750000024250,"updated_ms":1750000024750,"submitted_seq":97,"pending_approvals":[],"unknown_calls":[],"taint":[],"secret":"","kind":"answer","folder":"","commits":[],"left":[],"undone":false,"good":null,"account":"telegram:77","waiting":"waiting.task-kept-waiting.99"}',NULL,NULL);
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
CREATE UNIQUE INDEX project_by_folder ON project (folder);
CREATE INDEX conversation_by_deleted ON conversation (conversation_id) WHERE deleted = 1;
CREATE INDEX said_by_task ON said (task_seq);
CREATE INDEX summary_by_conversation ON summary (conversation_seq);
CREATE INDEX delivery_by_open ON delivery (changed_seq) WHERE is_open = 1;
CREATE INDEX delivery_by_chat ON delivery (account, chat, created_seq);
COMMIT;
