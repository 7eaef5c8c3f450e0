from tests.support.browser import browser as browser
