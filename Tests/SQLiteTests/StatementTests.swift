import Linux
import SQLite
import Testing

/// A connection on a file with one table `t(i INTEGER, s TEXT, b BLOB)`.
private func withTable(_ body: (borrowing Connection) throws -> Void) throws {
    let scratch = try TemporaryDirectory()
    let connection = try Connection(path: scratch.path + "/t.sqlite")
    try connection.execute("CREATE TABLE t(i INTEGER UNIQUE, s TEXT, b BLOB)")
    try body(connection)
}

@Suite struct StatementTests {
    @Test func valuesComeBackAsTheyWereBound() throws {
        try withTable { connection in
            var insert = try connection.prepare("INSERT INTO t VALUES(?,?,?)")
            try insert.bind(Int64.min, 0)
            try insert.bind("naïve 🦊\0end", 1)
            try [UInt8]([0, 1, 255, 0]).withUnsafeBytes { try insert.run(binding: $0, 2) }
            var select = try connection.prepare("SELECT i, s, b FROM t")
            let found = try select.first { row in
                (row.int64(0), row.text(1), row.blob(2).withUnsafeBytes { Array($0) })
            }
            #expect(found?.0 == .min)
            #expect(found?.1 == "naïve 🦊\0end")
            #expect(found?.2 == [0, 1, 255, 0])
        }
    }

    @Test func theEmptyBlobAndTheEmptyTextAreNotNull() throws {
        try withTable { connection in
            var insert = try connection.prepare("INSERT INTO t VALUES(?,?,?)")
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            for number in 0..<2 {
                try insert.bind(Int64(number), 0)
                try insert.bind("", 1)
                if number == 0 {
                    try insert.run(binding: nothing, 2)
                } else {
                    try insert.bind(copying: nothing, 2)
                    try insert.run()
                }
            }
            var select = try connection.prepare("SELECT typeof(s), typeof(b), s, b FROM t")
            var rows = 0
            try select.forEach { row in
                rows += 1
                #expect(row.text(0) == "text")
                #expect(row.text(1) == "blob")
                #expect(row.text(2) == "")
                #expect(row.isNull(3) == false)
                #expect(row.blobLength(3) == 0)
                #expect(row.blob(3).byteCount == 0)
                return true
            }
            #expect(rows == 2)
        }
    }

    @Test func absentValuesAreNull() throws {
        try withTable { connection in
            var insert = try connection.prepare("INSERT INTO t VALUES(?,?,?)")
            for index in 0...2 { try insert.bindNull(index) }
            try insert.run()
            var select = try connection.prepare("SELECT i, s, b FROM t")
            let nulls = try select.first { row in
                (row.storedInt64(0) == nil, row.text(1) == nil, row.isNull(2), row.int64(0))
            }
            #expect(try #require(nulls) == (true, true, true, 0))
        }
    }

    @Test func bindingsDoNotLeakIntoTheNextRun() throws {
        try withTable { connection in
            var insert = try connection.prepare("INSERT INTO t VALUES(?,?,?)")
            try insert.bind(1, 0)
            try insert.bind("first", 1)
            try insert.run()
            try insert.bind(2, 0)
            try insert.run()
            var select = try connection.prepare("SELECT s FROM t WHERE i=2")
            #expect(try select.first { $0.text(0) } == .some(nil))
        }
    }

    @Test func aCopiedBlobMayChangeBeforeTheRun() throws {
        try withTable { connection in
            var insert = try connection.prepare("INSERT INTO t(b) VALUES(?)")
            var bytes: [UInt8] = [1, 2, 3]
            try bytes.withUnsafeBytes { try insert.bind(copying: $0, 0) }
            bytes[0] = 9
            try insert.run()
            var select = try connection.prepare("SELECT b FROM t")
            let stored = try select.first { $0.blob(0).withUnsafeBytes { Array($0) } }
            #expect(stored == [1, 2, 3])
        }
    }

    @Test func aFailedRunLeavesTheStatementUsable() throws {
        try withTable { connection in
            var insert = try connection.prepare("INSERT INTO t(i) VALUES(?)")
            try insert.bind(7, 0)
            try insert.run()
            try insert.bind(7, 0)
            let error = #expect(throws: SQLiteError.self) { try insert.run() }
            #expect(error.map { .constraint ~= $0.code } == true)
            #expect(error?.code != .constraint, "the code is extended")
            #expect(error?.message == "UNIQUE constraint failed: t.i")
            try insert.bind(8, 0)
            try insert.run()
            #expect(connection.changes == 1)
        }
    }

    @Test func aParameterThatDoesNotExistIsRefusedAndClearsTheOthers() throws {
        try withTable { connection in
            var insert = try connection.prepare("INSERT INTO t(i) VALUES(?)")
            try insert.bind(5, 0)
            #expect(throws: SQLiteError.self) { try insert.bind(5, 1) }
            try insert.run()
            var select = try connection.prepare("SELECT i FROM t")
            #expect(try select.first { $0.isNull(0) } == true)
        }
    }

    @Test func reachingTheFirstRowReleasesTheReadLock() throws {
        try withTable { connection in
            try connection.execute("INSERT INTO t(i) VALUES(1),(2),(3)")
            var select = try connection.prepare("SELECT i FROM t ORDER BY i")
            #expect(try select.first { $0.int64(0) } == 1)
            // A pending read statement would make this checkpoint report "busy".
            var checkpoint = try connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)")
            #expect(try checkpoint.first { $0.int64(0) } == 0)
            var seen: [Int64] = []
            try select.forEach { row in
                seen.append(row.int64(0))
                return seen.count < 2
            }
            #expect(seen == [1, 2])
        }
    }

    @Test(arguments: ["", "   ", "SELECT 1; SELECT 2", "SELEC 1", "SELECT 1 FROM absent"])
    func whatIsNotOneGoodStatementIsRefused(sql: String) throws {
        try withTable { connection in
            let error = #expect(throws: SQLiteError.self) {
                _ = try connection.prepare(sql)
            }
            #expect(error?.code == .error)
        }
    }

    @Test func aTrailingSemicolonIsFine() throws {
        try withTable { connection in
            var select = try connection.prepare("SELECT 41 + 1;\n ")
            #expect(try select.first { $0.int64(0) } == 42)
        }
    }
}
