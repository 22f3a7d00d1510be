internal import SQLite

extension DiskIndex {
    /// Counts anew what the entries take.
    func recount() throws(DiskError) {
        try onIndex { () throws(SQLiteError) in
            try connection.execute(
                """
                UPDATE totals SET (entries, bytes) =
                    (SELECT count(*), coalesce(sum(charge), 0) FROM entries)
                """)
        }
    }

    /// Gives entries of the future, which a clock that was set back leaves, the date of now; true
    /// where so many were found that there may be more.
    func correctDates(_ now: UnixTime, _ type: ExpireType, count: Int) throws(DiskError) -> Bool {
        try onIndex { () throws(SQLiteError) in
            let date = Self.column(type)
            var update = try connection.prepare(
                """
                UPDATE entries SET accessed = min(accessed, ?1), stored = min(stored, ?1),
                    created = min(created, ?1)
                WHERE number IN (SELECT number FROM entries WHERE \(date) > ?1 LIMIT ?2)
                """)
            try update.bind(now.milliseconds, 0)
            try update.bind(Int64(count), 1)
            try update.run()
            return connection.changes == count
        }
    }
}
