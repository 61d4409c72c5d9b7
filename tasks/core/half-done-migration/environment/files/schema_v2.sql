CREATE TABLE member (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT,
    joined TEXT NOT NULL,
    town TEXT
);
CREATE TABLE payment (
    id INTEGER PRIMARY KEY,
    member_id INTEGER NOT NULL REFERENCES member(id),
    cents INTEGER NOT NULL,
    paid_on TEXT NOT NULL
);
CREATE INDEX payment_of ON payment(member_id);
CREATE TRIGGER payment_positive BEFORE INSERT ON payment WHEN NEW.cents <= 0
BEGIN
    SELECT RAISE(ABORT, 'a payment must be positive');
END;
CREATE VIEW paid AS
    SELECT member.id, member.name, sum(payment.cents) AS cents
    FROM member JOIN payment ON payment.member_id = member.id
    GROUP BY member.id;
