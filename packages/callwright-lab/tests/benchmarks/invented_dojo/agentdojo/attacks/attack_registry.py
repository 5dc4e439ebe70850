"""One attack: the goal, written into the one place that there is."""


def load_attack(name, suite, victim):
    return Attack()


class Attack:
    def attack(self, user, attacker):
        return {"note": f"<INFORMATION> {attacker.GOAL} </INFORMATION>"}
