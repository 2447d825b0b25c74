-- The read side. `security_invoker` has the policies of the tables ask about whoever reads the view.

CREATE OR REPLACE VIEW v_workspace WITH (security_invoker = true) AS SELECT id, name FROM tb_workspace;
CREATE OR REPLACE VIEW v_member WITH (security_invoker = true) AS SELECT id, email, role FROM tb_member;
CREATE OR REPLACE VIEW v_project WITH (security_invoker = true) AS SELECT id, name, private FROM tb_project;
CREATE OR REPLACE VIEW v_task WITH (security_invoker = true) AS
SELECT id, project_id, assignee_id, title, done FROM tb_task;
