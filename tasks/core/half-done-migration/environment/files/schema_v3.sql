CREATE TABLE town (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE member (
    id INTEGER PRIMARY KEY,
    given TEXT NOT NULL,
    family TEXT NOT NULL,
    email TEXT UNIQUE,
    joined TEXT NOT NULL,
    town_id INTEGER REFERENCES town(id)
);
CREATE TABLE payment (
    id INTEGER PRIMARY KEY,
    member_id INTEGER NOT NULL REFERENCES member(id),
    cents INTEGER NOT NULL,
    paid_on TEXT NOT NULL,
    currency TEXT NOT NULL DEFAULT 'EUR'
);
CREATE INDEX payment_of ON payment(member_id);
CREATE TRIGGER payment_positive BEFORE INSERT ON payment WHEN NEW.cents <= 0
BEGIN
    SELECT RAISE(ABORT, 'a payment must be positive');
END;
CREATE VIEW paid AS
    SELECT member.id, trim(member.given || ' ' || member.family) AS name, payment.currency, sum(payment.cents) AS cents
    FROM member JOIN payment ON payment.member_id = member.id
    GROUP BY member.id, payment.currency;
