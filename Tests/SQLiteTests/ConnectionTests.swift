import Glibc
import Linux
import SQLite
import Testing

@Suite struct ConnectionTests {
    @Test func itIsOpenedForAServersUse() throws {
        let scratch = try TemporaryDirectory()
        let connection = try Connection(
            path: scratch.path + "/a.sqlite", configuration: .init(pageCacheKiB: 512))
        #expect(try read(connection, "PRAGMA journal_mode") == "wal")
        #expect(try read(connection, "PRAGMA synchronous") == "1")
        #expect(try read(connection, "PRAGMA foreign_keys") == "1")
        #expect(try read(connection, "PRAGMA trusted_schema") == "0")
        #expect(try read(connection, "PRAGMA cache_size") == "-512")
        #expect(try read(connection, "PRAGMA busy_timeout") == "1000")
    }

    @Test func theSchemaVersionIsKeptInTheFile() throws {
        let scratch = try TemporaryDirectory()
        do {
            let connection = try Connection(path: scratch.path + "/a.sqlite")
            #expect(try connection.userVersion() == 0)
            try connection.setUserVersion(7)
        }
        let connection = try Connection(path: scratch.path + "/a.sqlite")
        #expect(try connection.userVersion() == 7)
    }

    @Test func aMissingFileIsNotCreatedUnlessAsked() throws {
        let scratch = try TemporaryDirectory()
        let path = scratch.path + "/absent.sqlite"
        let error = #expect(throws: SQLiteError.self) {
            _ = try Connection(path: path, configuration: .init(creates: false))
        }
        #expect(error.map { .cannotOpen ~= $0.code } == true)
        #expect(access(path, F_OK) != 0)
    }

    @Test func aFileThatIsNoDatabaseIsRefusedWithItsCode() throws {
        let scratch = try TemporaryDirectory()
        let path = scratch.path + "/a.sqlite"
        let file = try #require(fopen(path, "w"))
        for _ in 0..<200 { fputs("not a database here; ", file) }
        fclose(file)
        let error = #expect(throws: SQLiteError.self) { _ = try Connection(path: path) }
        #expect(error?.code == .notADatabase)
        #expect(error?.message == "file is not a database")
    }

    @Test func aTransactionThatIsNotCommittedLeavesNothing() throws {
        let scratch = try TemporaryDirectory()
        let connection = try Connection(path: scratch.path + "/a.sqlite")
        try connection.execute("CREATE TABLE t(i)")
        do {
            let transaction = try connection.begin()
            try connection.execute("INSERT INTO t VALUES(1)")
            _ = consume transaction
        }
        #expect(try read(connection, "SELECT count(*) FROM t") == "0")
        do {
            let transaction = try connection.begin()
            try connection.execute("INSERT INTO t VALUES(1)")
            try transaction.commit()
        }
        #expect(try read(connection, "SELECT count(*) FROM t") == "1")
    }

    @Test func aSecondWriterIsToldBusyAfterItsTimeout() throws {
        let scratch = try TemporaryDirectory()
        let path = scratch.path + "/a.sqlite"
        let first = try Connection(path: path)
        try first.execute("CREATE TABLE t(i)")
        let second = try Connection(path: path, configuration: .init(busyTimeout: 1))
        let transaction = try first.begin()
        let error = #expect(throws: SQLiteError.self) {
            try second.execute("INSERT INTO t VALUES(1)")
        }
        #expect(error.map { .busy ~= $0.code } == true)
        try transaction.commit()
        try second.execute("INSERT INTO t VALUES(1)")
    }

    @Test func aStatementMayOutliveItsConnection() throws {
        let scratch = try TemporaryDirectory()
        var statement = try Self.statementOfAClosedConnection(scratch.path + "/a.sqlite")
        #expect(try statement.first { $0.int64(0) } == 3)
    }

    private static func statementOfAClosedConnection(_ path: String) throws -> Statement {
        let connection = try Connection(path: path)
        return try connection.prepare("SELECT 3")
    }

    private func read(_ connection: borrowing Connection, _ sql: String) throws -> String? {
        var statement = try connection.prepare(sql)
        return try statement.first { $0.text(0) ?? "" }
    }
}
